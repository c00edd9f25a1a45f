//! What is looked at from outside is no part of what a guest did.

use vm_pmu::Signal;
use vm_pmu::arch::access::{Address, Fault};
use vm_pmu::litmus::Step;
use vm_pmu::topology::Builder;

/// PerfCtr0 and PerfEvtSel0 of the K8.
const COUNTER: Address = Address::Msr(0xC001_0004);
const SELECT: Address = Address::Msr(0xC001_0000);

#[test]
fn a_look_sees_what_a_read_would_and_is_not_recorded() {
    let machine = Builder::new("k8").expect("a part").build(|_thread, _counter| {}).expect("a machine");
    machine.start_recording(100).expect("it is saved");
    let cpu = machine.thread(0).expect("a thread");
    // RETIRED_INSTRUCTIONS with OS and EN.
    cpu.write(SELECT, 0x0042_00C0).expect("a select");
    (0..3).for_each(|_| cpu.retire(&[Signal::InstructionsRetired], 1));
    assert_eq!(cpu.look(COUNTER), Ok(3));
    cpu.retire(&[Signal::InstructionsRetired], 1);
    let recording = machine.stop_recording().expect("it records");
    let steps = recording.litmus.steps.iter().map(|(_, step)| step);
    // Registers are read at the end, behind the line about interrupts.
    let guest = steps.take_while(|step| !matches!(step, Step::Interrupts(_)));
    assert_eq!(guest.filter(|step| matches!(step, Step::Read(..))).count(), 0);
    assert!(recording.litmus.run().is_ok());
}

#[test]
fn a_look_meets_the_faults_of_a_read() {
    let machine = Builder::new("k8").expect("a part").build(|_thread, _counter| {}).expect("a machine");
    let cpu = machine.thread(0).expect("a thread");
    assert_eq!(cpu.look(Address::Rdpmc(9)), cpu.read(Address::Rdpmc(9)));
    assert_eq!(cpu.look(Address::Rdpmc(9)), Err(Fault::GeneralProtection));
}
