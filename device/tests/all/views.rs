//! Views of a thread: the registers by the instructions of an instruction set.

use vm_pmu::irq::Unconnected;
use vm_pmu::{Builder, Fault};

#[test]
fn only_the_view_of_its_own_instruction_set_reaches_a_parts_registers() {
    for (part, own) in [("k8", 0), ("knl", 0), ("power9", 1), ("itanium", 2), ("montecito", 2)] {
        let machine = Builder::new(part).unwrap().build(Unconnected).unwrap();
        let thread = machine.thread(0).unwrap();
        // Counter 0, MMCR0 and PMD4.
        let reads = [thread.x86().rdpmc(0), thread.power().mfspr(795), thread.ia64().mov_from_pmd(4)];
        let reached = reads.map(|read| read != Err(Fault::Unclaimed));
        assert_eq!(reached, [0, 1, 2].map(|set| set == own), "{part}");
    }
}

#[test]
fn a_view_lives_as_long_as_its_machine() {
    let machine = Builder::new("k8").unwrap().build(Unconnected).unwrap();
    let registers = machine.thread(0).unwrap().x86();
    registers.wrmsr(0xC001_0004, 5).unwrap();
    assert_eq!(registers.rdmsr(0xC001_0004), Ok(5));
}
