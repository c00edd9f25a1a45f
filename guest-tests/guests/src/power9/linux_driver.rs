//! `linux-driver`: what Linux's driver does with the registers, step by step (`arch/powerpc/kernel/cpu_setup_power.c`,
//! `arch/powerpc/perf/core-book3s.c`), as the kernel of a hypervisor.

use vm_pmu::arch::power9::encode::{EventCode, Options, RUN_CYCLES, RUN_INSTRUCTIONS, encode};
use vm_pmu::arch::power9::{CounterFreezes, Mmcr0, Mmcra, Sier, spr};

use super::FC;
use super::counting::{INSTRUCTIONS, check_counter, in_state, mmcr0, nops, pmc, run_latch};
use super::handler::{Handler, NEGATIVE, SIAR, SIER, bit, counter};
use crate::power::Kernel;
use vm_pmu_engines::image::Image;
use vm_pmu_engines::power::assemble::{AssembleError, R3, R4, R5, R6, R12, R16};
use vm_pmu_engines::power::registers::{facility, msr, spr as cpu};

/// The registers of a set of events.
#[derive(Clone, Copy, Default)]
struct Events {
    mmcr0: u64,
    mmcr1: u64,
    mmcr2: u64,
    mmcra: u64,
}

impl Events {
    /// As the driver makes them of event codes. What it excludes is kept out of all counters.
    fn of(codes: &[u64], options: Options) -> Events {
        let codes: Vec<EventCode> = codes.iter().map(|code| EventCode::from_bits(*code)).collect();
        let Ok(encoding) = encode(&codes, options) else { return Events::default() };
        let conditions = mmcr0(|m| {
            m.set_pmc1ce(encoding.counted[0].is_some());
            m.set_pmcjce(encoding.counted[1..].iter().any(Option::is_some));
            m.set_fc5_6(encoding.counted[4].is_none() && encoding.counted[5].is_none());
        });
        Events { mmcr0: conditions, mmcr1: encoding.mmcr1, mmcr2: encoding.mmcr2, mmcra: encoding.mmcra }
    }

    /// MMCR0 as it is while they count.
    fn running(&self) -> u64 {
        self.mmcr0
            | mmcr0(|m| {
                m.set_pmae(true);
                m.set_fcece(true);
            })
    }
}

/// Sets up a CPU: no counter counts, and guests may use the facilities.
fn boot(k: &mut Kernel) {
    k.write(spr::MMCRA, 0);
    k.write(spr::MMCR0, FC);
    k.write(spr::MMCR1, 0);
    k.write(spr::MMCR2, 0);
    k.write(spr::MMCRC, 0);
    for (number, bits) in [(cpu::FSCR, facility::EBB), (cpu::HFSCR, facility::BHRB | facility::PM | facility::EBB)] {
        k.a.mfspr(R3, number);
        k.a.ori(R3, R3, bits as u32);
        k.a.mtspr(number, R3);
    }
    run_latch(k, true);
    for (name, number, right) in [("MMCR0", spr::MMCR0, FC), ("MMCR1", spr::MMCR1, 0), ("MMCR2", spr::MMCR2, 0), ("MMCRA", spr::MMCRA, 0)] {
        k.a.mfspr(R3, number);
        k.check_is(&format!("boot: {name}"), R3, right);
    }
}

/// Stops all counters and disables what only running ones need. Changes GPR 3, 4 and 12.
fn disable(k: &mut Kernel) {
    let gone = mmcr0(|m| {
        m.set_ebe(true);
        m.set_bhrba(true);
        m.set_pmcc(0b11);
        m.set_pmao(true);
        m.set_pmae(true);
        m.set_fc5_6(true);
    });
    k.a.mfspr(R3, spr::MMCR0);
    k.a.load(R12, FC);
    k.a.or(R3, R3, R12);
    k.a.load(R12, gone);
    k.a.andc(R3, R3, R12);
    k.a.mtspr(spr::MMCR0, R3);
    k.a.sync();
    k.a.isync();
    let mut enable = Mmcra::default();
    enable.set_sample_enable(true);
    k.a.mfspr(R3, spr::MMCRA);
    k.a.load(R12, enable.bits());
    k.a.andc(R4, R3, R12);
    k.a.mtspr(spr::MMCRA, R4);
    k.write(spr::SDAR, 0);
    k.write(spr::SIAR, 0);
}

/// Counters continue from what they held.
fn resume(k: &mut Kernel, events: &Events) {
    k.write(spr::MMCRA, events.mmcra);
    k.write(spr::MMCR0, events.running());
}

/// Programs `events` and starts them, from 0 or so that they are negative after their `periods`.
fn enable(k: &mut Kernel, handler: &Handler, events: &Events, periods: [u64; 6]) {
    k.write(spr::MMCRA, events.mmcra);
    k.write(spr::MMCR1, events.mmcr1);
    let conditions = mmcr0(|m| {
        m.set_pmc1ce(true);
        m.set_pmcjce(true);
    });
    k.write(spr::MMCR0, events.mmcr0 & !conditions | FC);
    k.write(spr::MMCR2, events.mmcr2);
    handler.begin(k, events.running(), periods);
    resume(k, events);
}

/// Problem state, 63 instructions with its system call: 2, and 20 turns of 3.
fn work(k: &mut Kernel) {
    in_state(k, msr::HV | msr::PR, |k| {
        k.a.load(R12, 20);
        k.a.mtctr(R12);
        let again = k.a.mark();
        nops(k, 2);
        k.a.bdnz(again);
    });
}

/// Six events of a program, without the kernel; it is scheduled away and on again in between.
fn counting(k: &mut Kernel, handler: &Handler) {
    // PM_CYC, PM_BR_TAKEN_CMPL, PM_INST_CMPL, PM_BR_CMPL, and the two of PMC5 and PMC6.
    let codes = [0x1_001E, 0x2_00FA, 0x3_0002, 0x4_D05E, RUN_INSTRUCTIONS.bits(), RUN_CYCLES.bits()];
    let options = Options { freeze_in_hypervisor_state: true, freeze_in_supervisor_state: true, ..Options::default() };
    let events = Events::of(&codes, options);
    enable(k, handler, &events, [0; 6]);
    work(k);
    disable(k);
    // 63 instructions, and a cycle for the interrupt of the system call.
    let once = [64, 19, 63, 20, 63, 64];
    for (n, right) in (1..).zip(once) {
        check_counter(k, &format!("counting: PMC{n} when it is scheduled away"), n, right);
    }
    k.a.mfspr(R3, spr::MMCR0);
    k.check_is("counting: MMCR0 when it is disabled", R3, FC | events.mmcr0 | mmcr0(|m| m.set_fcece(true)));
    work(k);
    for (n, right) in (1..).zip(once) {
        check_counter(k, &format!("counting: PMC{n} while another program runs"), n, right);
    }
    resume(k, &events);
    work(k);
    work(k);
    disable(k);
    for (n, right) in (1..).zip(once) {
        check_counter(k, &format!("counting: PMC{n} at the end"), n, 3 * right);
    }
    Handler::check_taken(k, "counting: interrupts", 0);
}

/// A counter of a counting event becomes negative: the handler takes what it held and begins anew from 0, so nothing is lost.
fn counting_over_the_end(k: &mut Kernel, handler: &Handler) {
    let options = Options { freeze_in_hypervisor_state: true, freeze_in_supervisor_state: true, ..Options::default() };
    let events = Events::of(&[0x1_0002, 0x2_0002], options);
    enable(k, handler, &events, [0; 6]);
    k.write(spr::MMCR0, FC);
    k.write(pmc(2), 0x8000_0000 - 40);
    resume(k, &events);
    work(k);
    disable(k);
    Handler::check_taken(k, "over the end: interrupts", 1);
    Handler::check_overflows(k, "over the end: PMC2 was it", 2, 1);
    handler.check(k, "over the end: what the handler took", 0, counter(2), 0x8000_0000);
    check_counter(k, "over the end: what is there beside", 2, 63 - 40);
    check_counter(k, "over the end: PMC1 beside it", 1, 63);
}

/// A program is sampled every 64 instructions, in PMC4, while PMC1 counts cycles and PMC5 instructions.
fn sampling(k: &mut Kernel, handler: &Handler) {
    const PERIOD: u64 = 64;
    let options = Options { freeze_in_hypervisor_state: true, freeze_in_supervisor_state: true, ..Options::default() };
    let events = Events::of(&[0x4_0002, 0x1_001E, RUN_INSTRUCTIONS.bits()], options);
    enable(k, handler, &events, [0, 0, 0, PERIOD, 0, 0]);
    let mut body = 0;
    in_state(k, msr::HV | msr::PR, |k| {
        // 2, and 40 turns of 16.
        k.a.load(R12, 40);
        k.a.mtctr(R12);
        body = k.a.address();
        let again = k.a.mark();
        nops(k, 15);
        k.a.bdnz(again);
    });
    disable(k);
    // 643 instructions: ten samples and three instructions.
    Handler::check_taken(k, "sampling: interrupts", 10);
    Handler::check_overflows(k, "sampling: PMC4 was it", 4, 10);
    let mut problem = Sier::default();
    problem.set_msr_hv(true);
    problem.set_msr_pr(true);
    // A no-op is a fixed-point instruction.
    problem.set_kind(5);
    for index in 0..10 {
        // The 64th instruction is the 62nd of the loop, the 14th of its fourth turn; four turns are a period.
        handler.check(k, &format!("sampling: SIAR of sample {index}"), index, SIAR, body + 4 * 13);
        handler.check(k, &format!("sampling: SIER of sample {index}"), index, SIER, problem.bits());
        handler.check(k, &format!("sampling: which counter at sample {index}"), index, NEGATIVE, bit(4));
        handler.check(k, &format!("sampling: PMC5 at sample {index}"), index, counter(5), PERIOD * (index + 1));
    }
    check_counter(k, "sampling: PMC4 into the next period", 4, 0x8000_0000 - PERIOD + 3);
    // A cycle for the interrupt of the system call; at those of alerts the counters are frozen.
    check_counter(k, "sampling: PMC1", 1, 643 + 1);
    handler.entry(k, 0, SIAR);
    k.a.mr(R3, R5);
    k.a.load(R5, 10);
    k.sample("sampled loop");
    // Stopped, the registers of the sample are gone.
    for number in [spr::SIAR, spr::SDAR] {
        k.a.mfspr(R3, number);
        k.check_is("sampling: SIAR and SDAR when it is disabled", R3, 0);
    }
}

/// The idle loop: the run latch is off, and around a deep sleep the driver's registers are saved and the sampling machine is reset.
fn idle(k: &mut Kernel, handler: &Handler) {
    // PMC1 cycles, PMC2 and PMC3 instructions, PMC3 without idle.
    let mut events = Events::of(&[0x1_001E, 0x2_0002, 0x3_0002, RUN_INSTRUCTIONS.bits(), RUN_CYCLES.bits()], Options::default());
    let mut waits = CounterFreezes::default();
    waits.set_fcwait(true);
    events.mmcr2 = waits.bits() >> (9 * 2);
    k.a.load(R16, FC);
    enable(k, handler, &events, [0; 6]);
    let mut reset = Mmcra::default();
    reset.set_sample_reset(true);
    // Counted: the mtspr of `enable`. From here on each line has what it adds with the run latch on and off.
    run_latch(k, false); // 2 on
    nops(k, 30); // 30 off
    k.a.mfspr(R6, spr::MMCR0); // 1 off
    k.a.mfspr(R4, spr::MMCRA); // 1 off
    k.a.ori(R5, R4, reset.bits() as u32); // 1 off
    k.a.mtspr(spr::MMCRA, R5); // 1 off
    k.a.mtspr(spr::MMCRA, R4); // 1 off
    k.a.mtspr(spr::MMCR0, R6); // 1 off
    run_latch(k, true); // 2 off
    nops(k, 8); // 8 on
    k.a.mfspr(R3, spr::MMCR0); // 1 on
    k.a.or(R3, R3, R16); // 1 on
    k.a.mtspr(spr::MMCR0, R3);
    let (on, off) = (1 + 2 + 8 + 2, 30 + 6 + 2);
    for (n, right) in (1..).zip([on + off, on + off, on, 0, on, on]) {
        check_counter(k, &format!("idle: PMC{n}"), n, right);
    }
    disable(k);
}

/// Each counter excludes something else: user, the kernel of the hypervisor, nothing, both, the user in PMC5.
fn exclusion(k: &mut Kernel, handler: &Handler) {
    let freezes = |set: fn(&mut CounterFreezes)| {
        let mut own = CounterFreezes::default();
        set(&mut own);
        own.bits()
    };
    let user = freezes(|c| c.set_fcp(true));
    let kernel = freezes(|c| c.set_fch(true));
    let mut events = Events::of(&[0x1_0002, 0x2_0002, 0x3_0002, 0x4_0002, RUN_INSTRUCTIONS.bits(), RUN_CYCLES.bits()], Options::default());
    events.mmcr1 = INSTRUCTIONS;
    events.mmcr2 = user | kernel >> 9 | (user | kernel) >> (9 * 3) | user >> (9 * 4) | kernel >> (9 * 5);
    enable(k, handler, &events, [0; 6]);
    work(k);
    work(k);
    disable(k);
    check_counter(k, "exclude_kernel: PMC2", 2, 2 * 63);
    check_counter(k, "all excluded: PMC4", 4, 0);
    check_counter(k, "exclude_kernel: PMC6", 6, 2 * 64);
    k.a.mfspr(R3, pmc(1));
    k.a.mfspr(R4, pmc(5));
    k.a.mr(R5, R4);
    k.check_same("exclude_user: PMC1 and PMC5", R3, R5);
    k.a.mfspr(R5, pmc(1));
    k.a.addi(R5, R5, 2 * 63);
    k.a.mfspr(R3, pmc(3));
    k.check_same("nothing excluded: PMC3 is both", R3, R5);
}

/// Every group that the driver can make leaves the right MMCR0.
fn conditions(k: &mut Kernel) {
    /// Event codes, and the bits of MMCR0 that they need.
    type Case = (&'static [u64], fn(&mut Mmcr0));
    let cases: [Case; 3] = [
        (&[0x1_001E], |m| {
            m.set_pmc1ce(true);
            m.set_fc5_6(true);
        }),
        (&[0x2_0002, 0x1_001E], |m| {
            m.set_pmc1ce(true);
            m.set_pmcjce(true);
            m.set_fc5_6(true);
        }),
        (&[0x5_00FA], |m| m.set_pmcjce(true)),
    ];
    for (codes, right) in cases {
        let events = Events::of(codes, Options::default());
        k.write(spr::MMCR0, events.mmcr0 | FC);
        k.a.mfspr(R3, spr::MMCR0);
        k.check_is(&format!("MMCR0 for {:#x}", codes[0]), R3, FC | mmcr0(right));
    }
    k.write(spr::MMCR0, FC);
}

pub(super) fn build(little_endian: bool) -> Result<Image, AssembleError> {
    let mut k = Kernel::new(little_endian);
    let handler = Handler::new(&mut k, 1);
    k.main();
    boot(&mut k);
    conditions(&mut k);
    counting(&mut k, &handler);
    counting_over_the_end(&mut k, &handler);
    sampling(&mut k, &handler);
    idle(&mut k, &handler);
    exclusion(&mut k, &handler);
    k.end_main();
    k.finish()
}
