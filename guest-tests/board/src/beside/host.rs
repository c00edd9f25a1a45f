//! What the host does to registers, whatever the guest is about.

use vm_pmu::arch::feed::Context;
use vm_pmu::arch::ia64::Psr;
use vm_pmu::arch::power9::Msr;
use vm_pmu::topology::{Machine, Thread};
use vm_pmu::{Part, State};

use crate::Lines;

/// The context in which every register of `part` can be accessed.
fn privileged(part: Part, context: Context) -> Context {
    let machine_state = match part {
        Part::Power9(_) => {
            let (mut problem, mut hypervisor) = (Msr::default(), Msr::default());
            problem.set_pr(true);
            hypervisor.set_hv(true);
            context.machine_state & !problem.bits() | hypervisor.bits()
        }
        Part::Itanium(_) | Part::Montecito(_) => {
            let mut psr = Psr::of(context.machine_state);
            psr.set_cpl(0);
            psr.bits()
        }
        _ => context.machine_state,
    };
    Context { privilege: 0, machine_state, ..context }
}

/// The context within a state.
fn context_of(state: &mut State) -> Option<&mut Context> {
    match state {
        State::K8(state) => Some(&mut state.context),
        State::Knl(state) => Some(&mut state.context),
        State::Power9(state) => Some(&mut state.context),
        State::Itanium(state) => Some(&mut state.context),
        State::Montecito(state) => Some(&mut state.context),
        _ => None,
    }
}

/// Has a PMU believe in another context, without the change that counters and captures could notice.
fn replace(machine: &Machine<Lines>, number: usize, context: Context) {
    let mut states = machine.states();
    if let Some(held) = states.get_mut(number).and_then(context_of) {
        *held = context;
    }
    // As many states as threads, of the same part.
    let restored = machine.restore(&states);
    debug_assert!(restored.is_ok(), "a machine takes its own states back");
}

/// Does `work` with thread `number` of `machine`, with every access allowed. The guest's state is as before afterwards.
pub(crate) fn as_host<T>(machine: &Machine<Lines>, number: usize, work: impl FnOnce(Thread<'_, Lines>) -> T) -> Option<T> {
    let thread = machine.thread(number)?;
    let context = thread.context();
    let wanted = privileged(machine.part(), context);
    if wanted == context {
        return Some(work(thread));
    }
    replace(machine, number, wanted);
    let result = work(thread);
    replace(machine, number, context);
    Some(result)
}
