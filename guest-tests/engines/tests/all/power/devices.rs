//! The device that accesses memory by itself.

use super::support::*;

/// Keeps what devices did.
#[derive(Default)]
struct Watcher(Vec<DeviceActivity>);

impl Observer for Watcher {
    fn device(&mut self, activity: &DeviceActivity) {
        self.0.push(*activity);
    }
}

/// The low half of a register of the device becomes `value`. Changes GPR 20 and 21.
fn set(a: &mut Assembler, register: DmaRegister, value: u64) {
    a.load(R20, DMA + u64::from(register.offset()));
    a.load(R21, value);
    if a.little_endian() {
        a.stw(R21, 0, R20);
    } else {
        a.stwbrx(R21, R0, R20);
    }
}

/// Has the device do `command` with `bytes` bytes at `address`, to fill them with 7. Changes GPR 20 and 21.
fn give(a: &mut Assembler, command: DmaCommand, address: u64, bytes: u64) {
    for (register, value) in
        [(DmaRegister::Source, address), (DmaRegister::Destination, address), (DmaRegister::Bytes, bytes), (DmaRegister::Value, 7)]
    {
        set(a, register, value);
    }
    set(a, DmaRegister::Command, u64::from(command.number()));
}

#[test]
fn a_transfer_is_reported_page_by_page_and_an_answer_once() {
    for little_endian in [true, false] {
        let machine = run_with(little_endian, Watcher::default(), |a| {
            give(a, DmaCommand::Fill, DATA + 0xFF0, 0x20);
            a.load(R20, DMA + u64::from(DmaRegister::Identity.offset()));
            if little_endian {
                a.lwz(R3, 0, R20);
            } else {
                a.lwbrx(R3, R0, R20);
            }
        });
        let access = |physical, bytes| DeviceActivity::Access(DmaAccess { kind: DmaKind::Write, physical, bytes });
        let right = [access(DATA + 0xFF0, 0x10), access(DATA + 0x1000, 0x10), DeviceActivity::Answer];
        assert_eq!(machine.observer(0).expect("a CPU").0, right);
        assert_eq!(gpr(&machine, 3), 0xD3A0_1234);
        assert_eq!((machine.memory().read(DATA + 0x100F, 1), machine.memory().read(DATA + 0x1010, 1)), (7, 0));
    }
}

/// Whether a store finds its reservation after a command of the device.
fn reserved_after(command: DmaCommand, address: u64) -> bool {
    let machine = run(|a| {
        a.load(R9, DATA);
        a.ldarx(R10, R0, R9);
        give(a, command, address, 8);
        a.load(R3, 0);
        a.stdcx_dot(R10, R0, R9);
        let lost = a.label();
        a.bne(lost);
        a.load(R3, 1);
        a.here(lost);
    });
    gpr(&machine, 3) == 1
}

#[test]
fn what_the_device_writes_ends_reservations() {
    assert!(!reserved_after(DmaCommand::Fill, DATA + 64), "the same block of 128 bytes");
    assert!(!reserved_after(DmaCommand::Add, DATA));
    assert!(reserved_after(DmaCommand::Fill, DATA + 128));
    assert!(reserved_after(DmaCommand::Read, DATA));
}

#[test]
fn a_transaction_fails_when_the_device_reaches_what_it_stored() {
    for (address, fails) in [(DATA, true), (DATA + 128, false)] {
        let machine = run(|a| {
            a.mfmsr(R7);
            a.load(R8, msr::TM);
            a.or(R7, R7, R8);
            a.mtmsrd(R7, false);
            a.load(R9, DATA);
            a.load(R3, 1);
            a.tbegin_dot();
            let failed = a.label();
            a.beq(failed);
            a.std(R9, 0, R9);
            give(a, DmaCommand::Read, address, 8);
            a.tend_dot();
            a.load(R3, 0);
            a.here(failed);
        });
        assert_eq!(gpr(&machine, 3) == 1, fails, "{address:#x}");
    }
}

#[test]
fn the_device_is_saved() {
    let machine = run(|a| give(a, DmaCommand::Read, DATA, 8));
    let saved = machine.save();
    assert_eq!((saved.dma.source, saved.dma.destination, saved.dma.bytes), (DATA, DATA, 8));
    let mut other = run(|a| a.nop());
    other.restore(&saved).expect("alike");
    assert_eq!(other.save().dma, saved.dma);
}
