//! What files about IA-64 processors have in common: the names of the bits of PSR; the privilege level follows from PSR.cpl.

use vm_pmu_arch::access::Fault;
use vm_pmu_arch::feed::Context;

use super::{ContextField, PartField};

/// PSR with the field of `bits` bits from `low` on set to `value`.
fn psr(context: Context, low: u32, bits: u32, value: u64) -> Context {
    let mask = super::mask(bits) << low;
    Context { machine_state: context.machine_state & !mask | value << low & mask, ..context }
}

macro_rules! fields {
    ($( $name:ident = $word:literal, $low:literal, $bits:literal; )+) => {
        $( static $name: PartField =
            PartField { word: $word, bits: $bits, set: |context, value| psr(context, $low, $bits, value) }; )+
    };
}

// Itanium Architecture Software Developer's Manual, volume 2, section 3.3.2.
fields! {
    UP = "up", 2, 1;
    IC = "ic", 13, 1;
    I = "i", 14, 1;
    SP = "sp", 20, 1;
    PP = "pp", 21, 1;
    DB = "db", 24, 1;
    CPL = "cpl", 32, 2;
    IS = "is", 34, 1;
}

pub(super) static FIELDS: [(&str, ContextField); 12] = [
    ("psr", ContextField::MachineState),
    ("cpl", ContextField::Part(&CPL)),
    ("up", ContextField::Part(&UP)),
    ("pp", ContextField::Part(&PP)),
    ("sp", ContextField::Part(&SP)),
    ("is", ContextField::Part(&IS)),
    ("i", ContextField::Part(&I)),
    ("ic", ContextField::Part(&IC)),
    ("db", ContextField::Part(&DB)),
    ("dcr", ContextField::Control),
    ("foreground", ContextField::Foreground),
    ("halted", ContextField::Halted),
];

/// The privilege level is that of PSR.
pub(super) fn settle(context: Context) -> Context {
    Context { privilege: Context::ia64(context.machine_state, context.control).privilege, ..context }
}

/// Level 0 reads everything.
pub(super) static TOPMOST: [(ContextField, u64); 1] = [(ContextField::Part(&CPL), 0)];

pub(super) static FORMS: &str = "a register's name, pmc:INDEX, pmd:INDEX, ibr:INDEX or dbr:INDEX";

pub(super) static FAULTS: [Fault; 3] = [Fault::Unclaimed, Fault::PrivilegedOperation, Fault::ReservedRegisterField];
