//! What the host does to registers, whatever the guest is about.

use vm_pmu::arch::feed::Context;
use vm_pmu::topology::{Machine, Thread};

use crate::Lines;

/// Has a PMU believe in another context, without the change that counters and captures could notice.
fn replace(machine: &Machine<Lines>, number: usize, context: Context) {
    let mut states = machine.states();
    if let Some(state) = states.get_mut(number) {
        *state.context_mut() = context;
    }
    // As many states as threads, of the same part.
    let restored = machine.restore(&states);
    debug_assert!(restored.is_ok(), "a machine takes its own states back");
}

/// Does `work` with thread `number` of `machine`, with every access allowed. The guest's state is as before afterwards.
pub(crate) fn as_host<T>(machine: &Machine<Lines>, number: usize, work: impl FnOnce(Thread<'_, Lines>) -> T) -> Option<T> {
    let thread = machine.thread(number)?;
    let context = thread.context();
    let wanted = machine.part().privileged(context);
    if wanted == context {
        return Some(work(thread));
    }
    replace(machine, number, wanted);
    let result = work(thread);
    replace(machine, number, context);
    Some(result)
}
