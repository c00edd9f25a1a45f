//! Calls of host firmware, and what firmware hands over.

use super::support::*;

/// Returns for `attn` what GPR 0 and 4 hold, at one address.
struct Listener(u64);

impl Observer for Listener {
    fn attention(&mut self, cpu: &CpuView<'_>) -> Option<u64> {
        (cpu.pc() == self.0).then(|| cpu.gpr(0) << 8 | cpu.gpr(4))
    }
}

/// Where [`call`] has its `attn`, after three loads.
const ATTENTION: u64 = CODE + 0x200 + 12;

fn call(a: &mut Assembler) {
    let place = a.label();
    a.b(place);
    a.skip_to(CODE + 0x200);
    a.here(place);
    a.load(R0, 150);
    a.load(R4, 7);
    a.load(R3, 1);
    a.attn();
}

#[test]
fn an_attn_that_is_heard_returns_in_gpr_3() {
    for little_endian in [true, false] {
        let machine = run_with(little_endian, Listener(ATTENTION), call);
        assert_eq!(machine.cpu(0).map(|cpu| cpu.gpr(3)), Some(150 << 8 | 7));
    }
}

#[test]
fn an_attn_that_nobody_hears_is_illegal() {
    let machine = run_with(true, Recorder::default(), call);
    let seen = machine.observer(0).expect("a CPU");
    assert_eq!(seen.notices[0].taken, Taken::Interrupt(0xE40));
    assert_eq!(machine.cpu(0).map(|cpu| cpu.gpr(3)), Some(1));
    let elsewhere = run_with(true, Listener(0), call);
    assert_eq!(elsewhere.cpu(0).map(|cpu| cpu.gpr(3)), Some(1));
}

#[test]
fn an_attn_outside_hypervisor_state_is_illegal() {
    let target = CODE + 0x100;
    // One load is before it.
    let machine = run_with(true, Listener(target + 4), |a| {
        a.load(R3, target);
        a.mtspr(spr::SRR0, R3);
        a.mfmsr(R4);
        a.load(R5, msr::HV);
        a.andc(R4, R4, R5);
        a.mtspr(spr::SRR1, R4);
        a.rfid();
        a.skip_to(target);
        a.load(R0, 1);
        a.attn();
    });
    assert_eq!(machine.cpu(0).map(|cpu| cpu.gpr(3)), Some(target));
}

#[test]
fn firmware_hands_over_the_device_tree_and_says_who_each_cpu_is() {
    let mut a = Assembler::new(CODE, true);
    end(&mut a);
    let image = Image::raw(CODE, a.finish().expect("assembles"));
    let entry = Entry::DeviceTree { tree: 0x30_0000, base: 0x40_0000, firmware: 0x40_0100 };
    let config = Config { ram: 8 << 20, cpus: 2, entry, pirs: vec![0, 0x801], ..Config::default() };
    let machine = Machine::new(&config, &image, |_| Unobserved).expect("a machine");
    for (index, pir) in [(0, 0), (1, 0x801)] {
        let cpu = machine.cpu(index).expect("a CPU");
        assert_eq!([3, 4, 5, 6, 7, 8, 9].map(|n| cpu.gpr(n)), [0x30_0000, 0, 0, 0x6550_4150, 8 << 20, 0x40_0000, 0x40_0100]);
        assert_eq!(cpu.spr(spr::PIR), pir);
    }
}
