//! Files about Knights Landing's threads: CPL, two bits of RFLAGS and CR4, RDMSR and RDPMC. A package is a tile.

use vm_pmu_arch::access::Fault;

use super::k8::{COUNTER_ENABLE, INTERRUPT_FLAG};
use super::{ContextField, Dialect};

pub(super) static KNL: Dialect = Dialect {
    name: "knl",
    fields: &[
        ("cpl", ContextField::Privilege),
        ("privilege", ContextField::Privilege),
        ("halted", ContextField::Halted),
        ("machine_state", ContextField::MachineState),
        ("control", ContextField::Control),
        ("if", ContextField::Part(&INTERRUPT_FLAG)),
        ("pce", ContextField::Part(&COUNTER_ENABLE)),
    ],
    settle: |context| context,
    topmost: &[(ContextField::Privilege, 0)],
    // Some threads of the first core, all of that core, and the tile.
    forms: "a register's name, msr:NUMBER, rdpmc:INDEX, BOX.REGISTER or pci:BUS:DEVICE.FUNCTION:OFFSET",
    more: &[],
    faults: &[Fault::Unclaimed, Fault::GeneralProtection],
    not_zero: |_| 0,
};
