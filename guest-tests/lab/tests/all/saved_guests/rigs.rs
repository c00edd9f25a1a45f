//! Machines with everything attached to them.

use vm_pmu::Part;
use vm_pmu::companion;
use vm_pmu::topology::Builder;
use vm_pmu_board::{Lines, ia64 as board, power};
use vm_pmu_engines::ia64;
use vm_pmu_engines::power as engine;

const RAM: u64 = 32 << 20;

fn part(name: &str) -> Part {
    Part::named(name).expect("a part")
}

/// Does `work` with four CPUs on two chips that have run so many steps of the guest `nest-linux`.
pub(crate) fn on_power<T>(steps: u64, work: impl FnOnce(&mut power::Rig<'_, '_>) -> T) -> T {
    let image = vm_pmu_guests::named("power9", "nest-linux").expect("a guest").image(true).expect("assembles");
    let pmus = Builder::of(part("power9")).packages(2).threads(2).build(Lines::new(4)).unwrap();
    let companion = companion::Builder::new("power9").expect("a companion").packages(2).threads(2).build();
    let firmware = power::Firmware::new(2, &pmus, Some(&companion), power::Pace::default());
    let plain = engine::Config { ram: RAM, cpus: 4, ..engine::Config::default() };
    let config = engine::Config { entry: firmware.entry(), pirs: firmware.pirs().to_vec(), ..plain };
    let attach = |index: usize| {
        let mut cpu = power::Cpu::new(pmus.thread(index).expect("a thread"), config.time_base);
        cpu.call_firmware(&firmware);
        cpu.follow(companion.follower(index).expect("a follower"));
        cpu
    };
    let mut machine = engine::Machine::new(&config, &image, attach).expect("a machine");
    firmware.boot(machine.memory()).expect("boots");
    assert_eq!(machine.run(engine::Limits::steps(steps)), engine::Exit::Limit);
    work(&mut power::Rig { machine: &mut machine, pmus: &pmus, companion: Some(&companion), firmware: Some(&firmware) })
}

/// Does `work` with the two threads of a core that have run so many steps of the guest `two-threads`.
pub(crate) fn on_montecito<T>(steps: u64, work: impl FnOnce(&mut board::Rig<'_, '_>) -> T) -> T {
    let image = vm_pmu_guests::named("montecito", "two-threads").expect("a guest").image(true).expect("assembles");
    let lines = Lines::new(2);
    let pmus = Builder::of(part("montecito")).threads(2).build(lines.clone()).unwrap();
    let companion = companion::Builder::new("montecito").expect("a companion").threads(2).build();
    let attach = |index: usize| {
        let thread = pmus.thread(index).expect("a thread");
        let mut cpu = board::Cpu::new(thread, &lines, vm_pmu::arch::montecito::PERF_MON_INFO);
        cpu.follow(companion.follower(index).expect("a follower"), true);
        cpu
    };
    let config = ia64::Config { ram: RAM, threads: 2, ..ia64::Config::default() };
    let mut machine = ia64::Machine::new(&config, &image, attach).expect("a machine");
    assert_eq!(machine.run(ia64::Limits::steps(steps)), ia64::Exit::Limit);
    work(&mut board::Rig { machine: &mut machine, pmus: &pmus, lines: &lines, companion: Some(&companion) })
}
