//! Records of single instructions, as the interpreter makes them.

use std::sync::Arc;

use iced_x86::code_asm::*;
use vm_pmu::arch::feed::{BranchKind, Record};
use vm_pmu_board::x86::record;
use vm_pmu_engines::x86::{Alerts, Config, CpuView, EmptyBus, Image, Limits, Machine, Observer, Step};

const CODE: u64 = 0x10_0000;
const DATA: u64 = 0x20_0000;

struct Keeper(Vec<Record>);

impl Observer for Keeper {
    fn retire(&mut self, step: &Step, _: &CpuView<'_>) -> Alerts {
        self.0.extend(record(step));
        Alerts::NONE
    }
}

/// A store, a jump and a load; then three one-byte NOPs.
fn records() -> Vec<Record> {
    let mut a = CodeAssembler::new(64).unwrap();
    let mut over = a.create_label();
    a.mov(qword_ptr(DATA), rbx).unwrap();
    a.jmp(over).unwrap();
    a.set_label(&mut over).unwrap();
    a.mov(eax, dword_ptr(DATA)).unwrap();
    for _ in 0..3 {
        a.nop().unwrap();
    }
    let image = Image::raw(CODE, a.assemble(CODE).unwrap());
    let mut machine = Machine::new(&Config::default(), &image, Arc::new(EmptyBus), |_| Keeper(Vec::new())).unwrap();
    machine.run(Limits::steps(4));
    std::mem::take(&mut machine.observer_mut(0).unwrap().0)
}

#[test]
fn a_record_says_what_the_instruction_was_and_did() {
    let records = records();
    assert_eq!(records.len(), 4);
    // MOV m64, RBX: REX.W 89 /r.
    assert_eq!((records[0].address, records[0].encoding & 0xffff), (CODE, 0x8948));
    let store = records[0].memory.unwrap();
    assert_eq!((store.address, store.size, store.load, store.store), (DATA, 8, false, true));
    // JMP rel8 over nothing: EB 00.
    let jump = records[1].branch.unwrap();
    assert_eq!((records[1].encoding, jump.kind, jump.taken), (0x00eb, BranchKind::DirectJump, true));
    assert_eq!(jump.target, records[2].address);
    let load = records[2].memory.unwrap();
    assert_eq!((load.address, load.size, load.load, load.store), (DATA, 4, true, false));
    // NOP: 90.
    assert_eq!((records[3].encoding, records[3].branch, records[3].memory), (0x90, None, None));
}
