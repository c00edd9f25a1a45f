//! Frames and keys, on guests whose counts are known.

use std::sync::{Arc, Mutex};

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::KeyCode;
use ratatui::style::{Color, Modifier};
use vm_pmu::companion::Clock;
use vm_pmu_board::trace::Listener;
use vm_pmu_engines::image::Image;

use super::model::{Goal, Model};
use super::view::{Look, draw};
use super::watch::Watch;
use crate::held::{Drive, Driven, Driver, Held};
use crate::runner::{Options, run, run_image};
use crate::symbols::Symbols;

/// What a test does with a guest.
type Act = Box<dyn FnOnce(&mut Model, &mut dyn Held) + Send>;

struct Script {
    watch: Arc<Watch>,
    act: Mutex<Option<Act>>,
}

impl std::fmt::Debug for Script {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Script")
    }
}

impl Drive for Script {
    fn drive(&self, machine: &mut dyn Held, steps: u64) -> Driven {
        let mut model = Model::new(machine, Arc::clone(&self.watch), ("guest".to_owned(), Symbols::default()), 1000, steps);
        if let Some(act) = self.act.lock().unwrap().take() {
            act(&mut model, machine);
        }
        if model.ended.is_some() { Driven::Ended } else { Driven::Killed("the test is over") }
    }
}

fn options(limit: u64, act: impl FnOnce(&mut Model, &mut dyn Held) + Send + 'static) -> Options {
    let watch = Arc::new(Watch::default());
    let script = Script { watch: Arc::clone(&watch), act: Mutex::new(Some(Box::new(act))) };
    Options { limit, listener: Some(Listener(watch)), driver: Some(Driver(Arc::new(script))), companion: false, ..Options::default() }
}

/// Holds code of one CPU, a cycle for each step.
fn hold(pmu: &str, code: &[u8], act: impl FnOnce(&mut Model, &mut dyn Held) + Send + 'static) {
    let image = Image::raw(0x40_0000, code);
    run_image(pmu, "guest", &image, 1, Clock::Embedder, &options(1000, act)).unwrap();
}

/// Holds a guest of the project.
fn hold_guest(pmu: &str, name: &str, act: impl FnOnce(&mut Model, &mut dyn Held) + Send + 'static) {
    run(pmu, name, &options(1_000_000, act)).unwrap();
}

fn advance(model: &mut Model, machine: &mut dyn Held, goal: Goal) {
    model.goal = Some(goal);
    while model.goal.is_some() {
        model.advance(machine);
    }
}

fn typed(model: &mut Model, machine: &mut dyn Held, text: &str) {
    model.press(KeyCode::Char('w'), machine);
    text.chars().for_each(|letter| {
        model.press(KeyCode::Char(letter), machine);
    });
    model.press(KeyCode::Enter, machine);
}

fn terminal(model: &Model, (width, height): (u16, u16), colours: bool) -> Terminal<TestBackend> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(model, &Look::new(colours), frame.area(), frame.buffer_mut())).unwrap();
    terminal
}

/// The lines of a frame, without blanks at their ends.
fn frame(model: &Model, size: (u16, u16)) -> Vec<String> {
    let terminal = terminal(model, size, false);
    let buffer = terminal.backend().buffer();
    let line = |cells: &[ratatui::buffer::Cell]| cells.iter().map(|cell| cell.symbol()).collect::<String>().trim_end().to_owned();
    buffer.content().chunks(size.0.into()).map(line).collect()
}

fn has(lines: &[String], wanted: &str) {
    assert!(lines.iter().any(|line| line.contains(wanted)), "no `{wanted}` in\n{}", lines.join("\n"));
}

/// PerfCtr0 = -10, PerfEvtSel0 = retired instructions with OS, INT and EN in the eighth instruction; a jump to itself.
const K8: [u8; 33] = [
    0xb9, 0x04, 0x00, 0x01, 0xc0, // 00 mov ecx, 0xC0010004
    0xb8, 0xf6, 0xff, 0xff, 0xff, // 05 mov eax, -10
    0xba, 0xff, 0xff, 0xff, 0xff, // 0A mov edx, -1
    0x0f, 0x30, // 0F wrmsr
    0xb9, 0x00, 0x00, 0x01, 0xc0, // 11 mov ecx, 0xC0010000
    0xb8, 0xc0, 0x00, 0x52, 0x00, // 16 mov eax, 0x5200C0
    0x31, 0xd2, // 1B xor edx, edx
    0x0f, 0x30, // 1D wrmsr
    0xeb, 0xfe, // 1F jmp 1F
];

/// IA32_PERFEVTSEL0 = INST_RETIRED.ANY_P with OS and EN, in the fourth instruction; a jump to itself.
const KNL: [u8; 16] = [
    0xb9, 0x86, 0x01, 0x00, 0x00, // mov ecx, 0x186
    0xb8, 0xc0, 0x00, 0x42, 0x00, // mov eax, 0x4200C0
    0x31, 0xd2, // xor edx, edx
    0x0f, 0x30, // wrmsr
    0xeb, 0xfe, // jmp $
];

/// li 3, 5; mtspr 787 (PMC1), 3; and a branch to itself.
fn power() -> Vec<u8> {
    [0x3860_0005u32, 0x7c73_c3a6, 0x4800_0000].map(u32::to_le_bytes).concat()
}

#[test]
fn a_frame_of_k8_at_80_columns_shows_counters_fields_and_accesses() {
    hold("k8", &K8, |model, machine| {
        advance(model, machine, Goal::Steps(8));
        let lines = frame(model, (80, 24));
        // The write that enables the counter retires with the counter enabled: -10 becomes -9.
        let wanted = [
            " guest on k8   step 8   paused",
            " instruction 8   cycle 8   privilege 0   at 0x40001f",
            " counter            value  left  /step  /cycle  event",
            " PerfCtr0  0xfffffffffff7     9  0.125   0.125  RETIRED_INSTRUCTIONS:k:int",
            " idle: PerfCtr1, PerfCtr2, PerfCtr3",
            " control registers, * changed since the last frame",
            "* PerfEvtSel0 0x5200c0  EVENT_SELECT 0x00 → 0xc0, OS 0 → 1, INT 0 → 1, EN 0 → 1",
            " step  last interrupts and accesses",
            "    8  PerfEvtSel0 := 0x5200c0  RETIRED_INSTRUCTIONS:k:int",
            "    4  PerfCtr0 := 0xfffffffffffffff6  10 more until it overflows",
        ];
        assert_eq!(lines[..wanted.len()], wanted);
        assert!(lines[wanted.len()..22].iter().all(String::is_empty), "{lines:?}");
        assert_eq!(lines[23], " p run/pause  s step  a access  i interrupt  o overflow  w write  q quit");
    });
}

#[test]
fn at_120_columns_registers_stand_beside_interrupts() {
    hold("k8", &K8, |model, machine| {
        advance(model, machine, Goal::Steps(8));
        let lines = frame(model, (120, 40));
        let heads = format!("{:<60} step  last interrupts and accesses", " control registers, * changed since the last frame");
        assert_eq!(lines[5], heads);
        assert_eq!(lines[39], " p run/pause  s step  a access  i interrupt  o overflow  w write  q quit  +- pace  n frame");
    });
}

#[test]
fn a_counter_is_followed_to_its_overflow() {
    hold("k8", &K8, |model, machine| {
        advance(model, machine, Goal::Overflow);
        // Ten instructions retire in steps 8 to 17.
        assert_eq!(model.steps, 17);
        let lines = frame(model, (80, 24));
        has(&lines, "   17  overflow of counter 0: interrupt  before the instruction at 0x40001f");
        assert_eq!(model.message, "overflow of counter 0: interrupt   before the instruction at 0x40001f");
        // What the guest wrote is no count: 10 of 17 steps.
        has(&lines, " PerfCtr0    0x0     -  0.588   0.588");
    });
}

#[test]
fn a_frame_of_knl_shows_the_selected_event_and_its_rate() {
    hold("knl", &KNL, |model, machine| {
        advance(model, machine, Goal::Steps(4));
        advance(model, machine, Goal::Steps(10));
        // 1 in the fourth step, and ten more; IA32_PERF_GLOBAL_CTRL enables general counters after a reset.
        for size in [(80, 24), (120, 40)] {
            has(&frame(model, size), " IA32_PMC0    0xb     -  1.000   1.000  INST_RETIRED:ANY_P:k");
        }
        has(&frame(model, (80, 24)), " idle: IA32_PMC1, IA32_FIXED_CTR0, IA32_FIXED_CTR1, IA32_FIXED_CTR2");
    });
}

#[test]
fn a_frame_of_power9_shows_that_it_is_frozen_until_mmcr0_is_written() {
    hold("power9", &power(), |model, machine| {
        advance(model, machine, Goal::Steps(2));
        let lines = frame(model, (80, 24));
        // MMCR0[FC] is 1 after a reset (POWER9 PMU UG appendix A.3).
        has(&lines, "privilege 0   frozen");
        has(&lines, " PMC1       0x5     -  0.000   0.000  -");
        typed(model, machine, "MMCR1=0x02000000");
        typed(model, machine, "mmcr0 0");
        advance(model, machine, Goal::Steps(3));
        for size in [(80, 24), (120, 40)] {
            let lines = frame(model, size);
            has(&lines, "privilege 0   not frozen");
            has(&lines, " PMC1       0x8     -  1.000   1.000  PM_INST_CMPL");
        }
    });
}

#[test]
fn frames_of_both_itaniums_show_a_freeze_at_the_overflow() {
    for (pmu, event) in [("itanium", "IA64_INST_RETIRED.ALL"), ("montecito", "IA64_INST_RETIRED.THIS")] {
        hold_guest(pmu, "overflow", move |model, machine| {
            advance(model, machine, Goal::Overflow);
            // The guest has PMD4 overflow at the 19th instruction, in the sixth bundle; PMD5 counts the same, PMD6 bundles.
            let lines = frame(model, (120, 40));
            has(&lines, "   frozen");
            // What is said first is how the PMU begins, and no freeze.
            assert!(!lines.iter().any(|line| line.contains("no longer frozen  by the PMU itself")), "{lines:?}");
            for (counter, value, event) in
                [("PMD4", "0x0", format!("{event}:k:pm:oi")), ("PMD5", "0x13", format!("{event}:k:pm")), ("PMD6", "0x6", String::new())]
            {
                let row = lines.iter().find(|line| line.starts_with(&format!(" {counter} "))).expect("a row");
                let words: Vec<&str> = row.split_whitespace().collect();
                assert_eq!(words[1], value, "{row}");
                assert!(row.contains(&event), "{row}");
            }
            has(&frame(model, (80, 24)), "overflow of counter 4: interrupt  before the instruction at");
        });
    }
}

#[test]
fn keys_pause_and_step() {
    hold("k8", &K8, |model, machine| {
        assert_eq!(model.goal, None);
        model.press(KeyCode::Char('s'), machine);
        model.advance(machine);
        assert_eq!((model.steps, model.goal), (1, None));
        model.press(KeyCode::Char('r'), machine);
        assert_eq!(model.goal, Some(Goal::Run));
        model.press(KeyCode::Char('p'), machine);
        assert_eq!((model.goal, model.message.as_str()), (None, "paused"));
        model.press(KeyCode::Char('a'), machine);
        model.advance(machine);
        // The first access is the fourth instruction.
        assert_eq!((model.steps, model.message.as_str()), (4, "PerfCtr0 := 0xfffffffffffffff6   10 more until it overflows"));
        assert!(model.press(KeyCode::Char('q'), machine));
    });
}

#[test]
fn a_register_is_written_by_its_name() {
    hold("k8", &K8, |model, machine| {
        advance(model, machine, Goal::Steps(8));
        typed(model, machine, "PerfCtr0=-2");
        assert_eq!(model.message, "PerfCtr0 := 0xfffffffffffffffe");
        has(&frame(model, (80, 24)), " PerfCtr0  0xfffffffffffe     2  ");
        let before = model.steps;
        advance(model, machine, Goal::Overflow);
        assert_eq!(model.steps, before + 2);
    });
}

#[test]
fn a_write_of_no_register_or_of_no_number_is_refused_in_a_line() {
    hold("k8", &K8, |model, machine| {
        typed(model, machine, "PerfCtr9=1");
        assert_eq!(model.message, "k8 has no register `PerfCtr9`: did you mean PerfCtr0, PerfCtr1 or PerfCtr2?");
        typed(model, machine, "PerfCtr0=x");
        assert_eq!(model.message, "`x` is not a 64-bit number: write 10, 0x0a or, for a two's complement, -10");
        typed(model, machine, "PerfCtr0");
        assert_eq!(model.message, "`PerfCtr0` is not REG=VALUE");
    });
}

#[test]
fn a_write_that_the_pmu_refuses_changes_nothing() {
    hold("knl", &KNL, |model, machine| {
        // Bit 63 of IA32_PERF_GLOBAL_CTRL is reserved: a write of 1 is #GP (SDM volume 3, 18.2.2).
        typed(model, machine, "IA32_PERF_GLOBAL_CTRL=0x8000000000000000");
        assert_eq!(model.message, "IA32_PERF_GLOBAL_CTRL := 0x8000000000000000 is refused: general-protection exception, #GP(0)");
        assert!(model.accesses.is_empty(), "{:?}", model.accesses);
    });
}

#[test]
fn a_guest_of_two_cpus_is_shown_one_cpu_at_a_time() {
    hold_guest("k8", "two-cpus", |model, machine| {
        advance(model, machine, Goal::Steps(2000));
        assert!(frame(model, (80, 24))[0].ends_with("CPU 0 of 2"));
        // Every key has room at 80 columns.
        assert_eq!(frame(model, (80, 24))[23], " p run/pause  s step  a access  i interrupt  o overflow  t CPU  w write  q quit");
        model.press(KeyCode::Char('s'), machine);
        model.advance(machine);
        assert!(["the step was CPU 0's", "the step was CPU 1's"].contains(&model.message.as_str()), "{}", model.message);
        model.press(KeyCode::Char('t'), machine);
        assert!(frame(model, (80, 24))[0].ends_with("CPU 1 of 2"));
        model.press(KeyCode::Char('2'), machine);
        assert_eq!((model.chosen, model.message.as_str()), (1, "no CPU 2: there are 0 to 1"));
    });
}

#[test]
fn how_a_guest_is_stepped_changes_nothing_of_what_it_shows() {
    for (pmu, guest) in [("k8", "two-cpus"), ("knl", "freeze"), ("power9", "four-threads"), ("itanium", "overflow"), ("montecito", "count")]
    {
        let plain = run(pmu, guest, &Options::default()).unwrap();
        let stepped = Options { companion: true, ..options(1_000_000_000, |model, machine| advance(model, machine, Goal::Run)) };
        let stepped = run(pmu, guest, &stepped).unwrap();
        assert!(plain.passed, "{pmu} {guest}: {}", plain.ending);
        assert_eq!((stepped.passed, &stepped.ending), (true, &plain.ending), "{pmu} {guest}");
        assert_eq!((stepped.instructions, &stepped.counts), (plain.instructions, &plain.counts), "{pmu} {guest}");
    }
}

#[test]
fn what_changed_is_coloured_only_where_colours_are_wanted() {
    hold("k8", &K8, |model, machine| {
        advance(model, machine, Goal::Steps(8));
        // The sixth line below the title begins with the mark of a change.
        let mark = |colours| terminal(model, (80, 24), colours).backend().buffer().cell((0, 6)).unwrap().clone();
        assert_eq!((mark(true).symbol(), mark(true).fg), ("*", Color::Yellow));
        assert_eq!((mark(false).fg, mark(false).modifier), (Color::Reset, Modifier::BOLD));
    });
}

#[test]
fn a_run_ends_at_its_limit_and_says_so() {
    hold("k8", &K8, |model, machine| {
        advance(model, machine, Goal::Run);
        assert_eq!(model.message, "the guest has ended: not done after 1,000 steps");
        model.press(KeyCode::Char('s'), machine);
        assert_eq!((model.steps, model.goal), (1000, None));
    });
}
