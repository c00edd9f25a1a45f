//! The commands that run guests, with a runner that only pretends; and that no arguments make the program panic.

use proptest::prelude::*;
use vm_pmu::arch::layout::FieldAccess;
use vm_pmu::arch::registry::Part;
use vm_pmu_lab::commands::decode::Decoded;
use vm_pmu_lab::commands::encode;
use vm_pmu_lab::dialect::select;
use vm_pmu_lab::output::Output;
use vm_pmu_lab::report::{Action, Check, Count, Interrupts, Register, Report, Trace};
use vm_pmu_lab::request::{Guest, GuestInfo, NoGuests, RunRequest, Runner};

/// Knows four guests: one passes, one fails, one cannot be run, and one is there for two PMUs.
struct Double;

impl Runner for Double {
    fn guests(&self) -> Vec<GuestInfo> {
        [("overflow", "k8"), ("broken", "k8"), ("refused", "k8"), ("both", "k8"), ("both", "z80")]
            .map(|(name, pmu)| GuestInfo { name: name.into(), pmu: pmu.into(), threads: 1, summary: format!("Shows {name}.") })
            .to_vec()
    }

    fn run(&self, request: &RunRequest) -> Result<Report, String> {
        let name = request.guest.title();
        if name == "refused" {
            return Err("it asks for too many threads".into());
        }
        let seen = if name == "broken" { 4 } else { 3 };
        Ok(Report {
            passed: name != "broken",
            ending: if matches!(request.guest, Guest::File(_)) { "a file ended".into() } else { "The guest ended by itself.".into() },
            guest: name,
            pmu: request.pmu.clone(),
            engine: request.engine.clone(),
            instructions: 12_345,
            checks: vec![Check { name: "count after the interrupt".into(), seen, least: 3, most: 3 }],
            counts: vec![Count {
                thread: 0,
                counter: 0,
                event: "RETIRED_INSTRUCTIONS:k:int".into(),
                count: 1003,
                unit: "events".into(),
                fidelity: "exact".into(),
                driven_by: "instructions_retired".into(),
            }],
            interrupts: vec![Interrupts { thread: 0, counter: 0, requested: 1 }],
            trace: vec![
                Trace {
                    thread: 0,
                    instruction: 100,
                    cycle: 120,
                    address: 0x1000,
                    action: Action::Write { register: "PerfEvtSel0".into(), before: Some(0x42_00c0), value: 0x52_00c0, after: None },
                },
                Trace { thread: 0, instruction: 1_103, cycle: 1_300, address: 0x2000, action: Action::Interrupt { counters: vec![0] } },
            ],
            registers: vec![
                Register { thread: 0, name: "PerfEvtSel0".into(), value: 0x52_00c0 },
                Register { thread: 0, name: "PerfCtr0".into(), value: 3 },
            ],
            ..Report::default()
        })
    }
}

/// The status, what was printed, and the line about an error.
fn pmulab_with(runner: &dyn Runner, arguments: &[&str]) -> (u8, String, String) {
    let (mut bytes, mut errors) = (Vec::new(), Vec::new());
    let arguments = [&["pmulab"], arguments].concat();
    let status = vm_pmu_lab::commands::main(arguments, runner, &mut Output::new(&mut bytes), &mut errors);
    (status, String::from_utf8(bytes).unwrap(), String::from_utf8(errors).unwrap())
}

fn pmulab(arguments: &[&str]) -> (u8, String, String) {
    pmulab_with(&Double, arguments)
}

#[test]
fn the_status_is_that_of_the_guest() {
    let (status, text, errors) = pmulab(&["run", "--guest", "overflow"]);
    assert_eq!((status, errors.as_str()), (0, ""));
    assert!(text.ends_with("\nThe guest ended by itself.\nPASS\n"), "{text}");
    let (status, text, _) = pmulab(&["run", "--pmu", "k8", "--guest", "broken"]);
    assert_eq!(status, 1);
    assert!(text.ends_with("\nFAIL\n"), "{text}");
    let (status, text, errors) = pmulab(&["run", "--guest", "refused"]);
    assert_eq!((status, text.as_str(), errors.as_str()), (2, "", "pmulab: refused: it asks for too many threads\n"));
}

#[test]
fn several_guests_have_a_line_each() {
    let (status, text, _) = pmulab(&["run", "--guest", "overflow", "--guest", "broken"]);
    assert_eq!(status, 1);
    let expected = "\
PASS  overflow  k8       12,345 instructions  1 of 1 check
FAIL  broken    k8       12,345 instructions  0 of 1 check
      The guest ended by itself.
      count after the interrupt: seen 4, expected 3

2 guests: 1 passed, 1 failed
";
    assert_eq!(text, expected, "\n{text}");
    let (status, text, _) = pmulab(&["run", "--guest", "all", "--pmu", "k8"]);
    assert_eq!(status, 2, "one could not be run");
    assert!(text.contains("not run: it asks for too many"), "{text}");
    assert!(text.ends_with("4 guests: 2 passed, 2 failed\n"), "{text}");
}

#[test]
fn verdicts_have_a_colour_where_colours_are_wanted_and_nothing_else_changes() {
    let coloured = |arguments: &[&str]| {
        let mut bytes = Vec::new();
        let mut output = Output::new(&mut bytes).with_colours(true);
        vm_pmu_lab::commands::main([&["pmulab"], arguments].concat(), &Double, &mut output, &mut Vec::new());
        String::from_utf8(bytes).unwrap()
    };
    // ECMA-48, SGR: 32 is green, 31 red, 1 bold, 0 neither.
    let (green, red, end) = ("\x1b[32m", "\x1b[1m\x1b[31m", "\x1b[0m");
    let passing = coloured(&["run", "overflow"]);
    assert!(passing.ends_with(&format!("\n{green}PASS{end}\n")), "{passing}");
    assert!(passing.contains(&format!("\n  {green}pass{end}  count after the interrupt")), "{passing}");
    let failing = coloured(&["run", "broken"]);
    assert!(failing.ends_with(&format!("\n{red}FAIL{end}\n")) && failing.contains(&format!("\n  {red}FAIL{end}  count")), "{failing}");
    let several = coloured(&["run", "overflow", "broken"]);
    assert!(several.starts_with(&format!("{green}PASS{end}  overflow")) && several.contains(&format!("\n{red}FAIL{end}  broken")));
    for arguments in [&["run", "overflow"][..], &["run", "broken"], &["run", "overflow", "broken"]] {
        let plain = ["\x1b[32m", "\x1b[31m", "\x1b[1m", "\x1b[0m"].iter().fold(coloured(arguments), |text, code| text.replace(code, ""));
        assert_eq!(plain, pmulab(arguments).1, "{arguments:?}");
    }
}

#[test]
fn json_is_an_object_for_one_guest_and_an_array_for_several() {
    let json = |arguments: &[&str]| serde_json::from_str::<serde_json::Value>(&pmulab(arguments).1).unwrap();
    let one = json(&["run", "--guest", "overflow", "--format", "json"]);
    assert_eq!(one["decoded_registers"][0]["event"], "RETIRED_INSTRUCTIONS:k:int");
    let several = json(&["run", "--guest", "overflow", "--guest", "broken", "--format", "json"]);
    assert_eq!(several[1]["passed"], false);
    let guests = json(&["guests", "--format", "json"]);
    assert_eq!(guests[0], serde_json::json!({"name": "overflow", "pmu": "k8", "threads": 1, "summary": "Shows overflow."}));
}

#[test]
fn the_pmu_may_be_left_out_where_a_guest_knows_only_one() {
    assert_eq!(pmulab(&["run", "--guest", "both"]).2, "pmulab: guest `both` drives k8, z80: choose one with --pmu\n");
    assert_eq!(pmulab(&["run", "--guest", "both", "--pmu", "k8"]).0, 0);
}

#[test]
fn what_is_no_guest_may_be_a_file() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let (status, text, _) = pmulab(&["run", "--guest", file.path().to_str().unwrap()]);
    assert_eq!(status, 0);
    assert!(text.contains("on k8") && text.contains("a file ended"), "{text}");
}

#[test]
fn mistakes_name_what_is_near() {
    let of = |arguments: &[&str]| {
        let (status, text, errors) = pmulab(arguments);
        assert_eq!((status, text.as_str(), errors.lines().count()), (2, "", 1), "{errors}");
        errors
    };
    assert_eq!(of(&["run", "--guest", "overfow"]), "pmulab: no guest or file is called `overfow`: did you mean overflow?\n");
    assert_eq!(of(&["run", "--guest", "zzz"]), "pmulab: no guest or file is called `zzz`; `pmulab guests` lists them\n");
    let engine = of(&["run", "--guest", "overflow", "--engine", "quantum"]);
    assert_eq!(engine, "pmulab: no engine is called `quantum`; there is only interpreter\n");
    assert!(of(&["run", "--guest", "overflow", "--pmu", "p9"]).contains("no PMU is called `p9`"));
    assert!(of(&["run", "--guest", "./overflow.elf"]).contains("no file or folder"));
    assert!(of(&["run", "--guest", "."]).contains("is a folder"));
}

#[test]
fn the_demonstration_tells_what_was_programmed_and_what_came_of_it() {
    let (status, text, _) = pmulab(&[]);
    assert_eq!(status, 0);
    for part in [
        "PerfEvtSel0 := 0x5200c0",
        "RETIRED_INSTRUCTIONS:k:int",
        "overflow of counter 0: interrupt",
        "1 of its 1 checks",
        "What to try next",
    ] {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let (status, text, errors) = pmulab_with(&NoGuests, &[]);
    assert_eq!((status, text.as_str(), errors.lines().count()), (2, "", 1));
}

#[test]
fn guests_are_listed_by_part() {
    let (status, text, _) = pmulab(&["guests"]);
    assert_eq!(status, 0);
    let expected = "\
k8: AMD Athlon 64 and AMD Opteron (family 0Fh), 4 guests
  overflow  Shows overflow.
  broken    Shows broken.
  refused   Shows refused.
  both      Shows both.

z80, 1 guest
  both      Shows both.

Run one with `pmulab run NAME --pmu PMU`, or every one with `pmulab run all`.
";
    assert_eq!(text, expected, "\n{text}");
}

proptest! {
    /// What `decode` calls a select, `encode` makes again.
    #[test]
    fn a_select_survives_being_said_and_made_again(value in any::<u32>()) {
        let part = Part::named("k8").unwrap();
        let register = select::register(part, "PerfEvtSel0").unwrap();
        let value = u64::from(value) & 0xffdf_ffff;
        if let Some(event) = Decoded::new(part, register, value).event {
            let programmed = encode::program(part, &[&event]).unwrap();
            prop_assert_eq!(programmed[0].writes[0].value, value, "{}", event);
        } else {
            prop_assert_eq!(value, 0);
        }
    }

    /// What `decode` calls a select of Knights Landing, `encode` makes again.
    #[test]
    fn a_select_of_knights_landing_survives_being_said_and_made_again(value in any::<u32>()) {
        let part = Part::named("knl").unwrap();
        let register = select::register(part, "IA32_PERFEVTSEL1").unwrap();
        let value = u64::from(value);
        let Some(event) = Decoded::new(part, register, value).event else {
            prop_assert_eq!(value, 0);
            return Ok(());
        };
        // AnyThread where it means nothing is refused.
        if let Ok(programmed) = encode::program(part, &[&event]) {
            let again = programmed[0].writes.iter().find(|write| write.register.name.starts_with("IA32_PERFEVTSEL")).unwrap();
            prop_assert_eq!(again.value, value, "{}", event);
        } else {
            prop_assert!(value >> 21 & 1 == 1, "{}", event);
        }
    }

    /// What `decode` calls the control of a counter in a box, `encode` makes again, in a counter that takes the event.
    #[test]
    fn the_control_of_a_box_survives_being_said_and_made_again(
        value in any::<u32>(),
        name in prop::sample::select(vec![
            "CHA37_MSR_PMON_CTL0", "IRP_PCI_PMON_CTL1", "EDC_ECLK7_PCI_PMON_CTL3", "M2PCIE_PCI_PMON_CTL1", "U_MSR_PMON_CTL0", "PCU_MSR_PMON_CTL2",
        ]),
    ) {
        let part = Part::named("knl").unwrap();
        let register = select::register(part, name).unwrap();
        let value = u64::from(value);
        let kept = register.fields.iter().filter(|field| field.access == FieldAccess::ReadWrite).fold(0, |bits, field| bits | field.mask());
        // Boxes without a filter of threads keep its bit, and have no word for it.
        let value = value & kept & if name.starts_with("CHA") { u64::MAX } else { !(1 << 19) };
        let Some(event) = Decoded::new(part, register, value).event else { return Ok(()) };
        let programmed = encode::program(part, &[&event]).unwrap();
        let is_control = |write: &&vm_pmu_lab::dialect::Write| write.register.fields == register.fields && !write.register.name.contains("BOX");
        let again = programmed[0].writes.iter().find(is_control).unwrap();
        prop_assert_eq!(again.value, value, "{}", event);
    }

    /// What `decode` calls the requests that a register chooses, `encode` writes again.
    #[test]
    fn chosen_requests_survive_being_said_and_made_again(value in 0u64..1 << 39, second in any::<bool>()) {
        let part = Part::named("knl").unwrap();
        let name = if second { "MSR_OFFCORE_RESP1" } else { "MSR_OFFCORE_RESP0" };
        let register = select::register(part, name).unwrap();
        let Some(event) = Decoded::new(part, register, value).event else { return Ok(()) };
        // Bits without a meaning are refused where they are given by name.
        if let Ok(programmed) = encode::program(part, &[&event]) {
            let again = programmed[0].writes.iter().find(|write| write.register.name == name).unwrap();
            prop_assert_eq!(again.value, value, "{}", event);
        }
    }

    /// What `decode` calls a counter of Montecito or the first Itanium, `encode` makes again.
    #[test]
    fn a_pmc_survives_being_said_and_made_again(value in any::<u32>(), first in any::<bool>()) {
        let (pmu, kept) = if first { ("itanium", 0x037f_7f7f) } else { ("montecito", 0x7f7f_ff7f) };
        let part = Part::named(pmu).unwrap();
        let register = select::register(part, "PMC5").unwrap();
        let value = u64::from(value) & kept;
        let Some(event) = Decoded::new(part, register, value).event else {
            prop_assert_eq!(value & 0xfcff_ffff, 0);
            return Ok(());
        };
        // What the restrictions forbid is refused.
        if let Ok(programmed) = encode::program(part, &[&event]) {
            let writes = &programmed[0].writes;
            let again = writes.iter().find(|write| write.register.name.starts_with("PMC") && write.register.name != "PMC0").unwrap();
            prop_assert_eq!(again.value, value, "{}", event);
        }
    }

    /// What `decode` calls the events of MMCR1, `encode` selects again.
    #[test]
    fn an_mmcr1_survives_being_said_and_made_again(value in any::<u64>(), bus in any::<bool>()) {
        let part = Part::named("power9").unwrap();
        let register = select::register(part, "MMCR1").unwrap();
        // Either direct events, which have neither unit nor combination, or anything.
        let value = if bus { value } else { value & 0xFF_FF_FF_FF };
        let Some(said) = Decoded::new(part, register, value).event else { return Ok(()) };
        let words: Vec<&str> = said.split(' ').collect();
        // What MMCR1 can hold and no code may ask for is refused.
        if let Ok(programmed) = encode::program(part, &words) {
            let writes = programmed.iter().flat_map(|one| &one.writes);
            let again = writes.filter(|write| write.register.name == "MMCR1").map(|write| write.value).next().unwrap();
            prop_assert_eq!(Decoded::new(part, register, again).event, Some(said));
        }
    }

    #[test]
    fn no_words_make_it_panic(
        pmu in prop::sample::select(vec!["k8", "knl", "power9", "itanium", "montecito"]),
        command in prop::sample::select(vec!["encode", "decode", "list", "run"]),
        words in prop::collection::vec("[-=:.0-9a-fxukéPerfCtS_]{0,12}|\\PC{0,8}", 0..4),
    ) {
        let mut arguments = vec![command];
        match command {
            "encode" | "decode" => arguments.extend(["--pmu", pmu, "--"]),
            "list" => arguments.push("--search"),
            _ => arguments.push("--guest"),
        }
        arguments.extend(words.iter().map(String::as_str));
        let (status, _, _) = pmulab(&arguments);
        prop_assert!(status <= 2);
    }
}
