//! A program that mixes what instructions do, in a few pages of code and with data beyond every level of caches.

use vm_pmu::Signal;
use vm_pmu::arch::feed::{BranchKind, Demand, Records, SignalSet};
use vm_pmu::companion::{Access, AccessKind, Class, Follower, Instruction, Operation, Register, Transfer, Untranslated};
use vm_pmu::irq::InterruptLine;
use vm_pmu::topology::Thread;

/// What instruction `number` does is spread by the multiplier of a usual generator.
fn spread(number: u64) -> u64 {
    number.wrapping_mul(0x5851_F42D_4C95_7F2D) >> 33
}

/// Executes instruction `number` of the program on a thread whose PMU wants to know everything.
pub(crate) fn execute<L: InterruptLine>(follower: &mut Follower<'_>, thread: &Thread<'_, L>, number: u64) {
    let mut demand = Demand::default();
    demand.replace(SignalSet::ALL, false, Records::ALL);
    follower.sync(&demand);
    let random = spread(number);
    let address = 0x40_0000 + random % 0x4000 * 4;
    let data = 0x1000_0000 + random % 0x40_0000 * 8;
    let (own, other) = ([Register(10 + (random % 16) as u16)], [Register(40)]);
    let (kind, class) = if random & 1 == 0 { (AccessKind::Load, Class::Load) } else { (AccessKind::Store, Class::Store) };
    let accesses = [Access { kind, address: data, physical: data, size: 8, ..Access::default() }];
    let operation = Operation { width: 8, reads: &own, writes: &other, ..Operation::default() };
    let (class, transfer) = match random / 2 % 8 {
        0..=3 => (class, None),
        4 => (Class::Divide, None),
        5 => (Class::Simple, None),
        6 => {
            let taken = random & 16 == 0;
            (Class::Branch, Some(Transfer { kind: BranchKind::Conditional, taken, target: address + 64 }))
        }
        _ => (Class::Call, Some(Transfer { kind: BranchKind::DirectCall, taken: true, target: 0x40_0000 })),
    };
    let accesses: &[Access] = if matches!(class, Class::Load | Class::Store) { &accesses } else { &[] };
    let instruction = Instruction {
        address,
        physical: address,
        length: 4,
        next_page: None,
        micro_ops: 1,
        class,
        operation: Some(operation),
        floating_point: false,
        segment_loads: 0,
        accesses,
        transfer,
        bundle: None,
    };
    follower.execute(&instruction, &mut Untranslated(12));
    follower.deliver(thread, &[], |_| {
        thread.totals().add(Signal::InstructionsRetired, 1);
    });
}
