//! Files about the K8: CPL, two bits of RFLAGS and CR4, RDMSR and RDPMC.

use vm_pmu_arch::access::Fault;

use super::{ContextField, Dialect, PartField};

pub(super) static INTERRUPT_FLAG: PartField =
    PartField { word: "if", bits: 1, set: |context, value| context.with_interrupts_enabled(value != 0) };
pub(super) static COUNTER_ENABLE: PartField =
    PartField { word: "pce", bits: 1, set: |context, value| context.with_rdpmc_enabled(value != 0) };

pub(super) static K8: Dialect = Dialect {
    name: "k8",
    fields: &[
        ("cpl", ContextField::Privilege),
        ("privilege", ContextField::Privilege),
        ("halted", ContextField::Halted),
        ("foreground", ContextField::Foreground),
        ("machine_state", ContextField::MachineState),
        ("control", ContextField::Control),
        ("if", ContextField::Part(&INTERRUPT_FLAG)),
        ("pce", ContextField::Part(&COUNTER_ENABLE)),
    ],
    settle: |context| context,
    topmost: &[(ContextField::Privilege, 0)],
    forms: "a register's name, msr:NUMBER or rdpmc:INDEX",
    more: &[],
    faults: &[Fault::Unclaimed, Fault::GeneralProtection],
    not_zero: |_| 0,
};
