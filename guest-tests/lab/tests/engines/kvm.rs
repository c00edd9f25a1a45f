//! Every guest of x86 on KVM gives the interpreter's report. Where KVM cannot execute guests, each test prints its name and that it is
//! skipped, in one line, and passes.

use std::io::Write;

use iced_x86::code_asm::*;
use vm_pmu::companion::Clock;
use vm_pmu_engines::kvm;
use vm_pmu_engines::x86::Image;
use vm_pmu_guests::runtime::{Kernel, USER_DATA, User};
use vm_pmu_lab::report::Report;
use vm_pmu_lab::runner::{Engine, Options, run, run_image};

/// The exchanges between a guest and its PMU are compared up to here; the counts, to the end.
const TRACE: usize = 5000;

fn options(engine: Engine) -> Options {
    Options { engine, limit: 3_000_000, trace: vm_pmu_board::trace::Choice::first(TRACE), ..Options::default() }
}

/// Whether KVM executes guests here; if not, prints that `test` is skipped.
fn ready(test: &str) -> bool {
    match kvm::ready() {
        Ok(_) => true,
        Err(reason) => {
            // Past the test harness, which hides what a passing test prints.
            let _ = writeln!(std::io::stderr(), "{test}: skipped, {reason}");
            false
        }
    }
}

/// All of a report but the engine's name.
fn shown(report: &Report) -> serde_json::Value {
    serde_json::to_value(Report { engine: String::new(), ..report.clone() }).expect("a report is plain")
}

/// The first difference of two reports.
fn assert_same(name: &str, on_kvm: &Report, on_interpreter: &Report) {
    assert_eq!(on_kvm.ending, on_interpreter.ending, "{name}");
    let (left, right) = (shown(on_kvm), shown(on_interpreter));
    for (part, value) in right.as_object().expect("an object") {
        assert_eq!(left.get(part), Some(value), "{part} of {name}");
    }
}

fn runs_the_same(test: &str, pmu: &str, guest: &str) {
    if ready(test) {
        let on_kvm = run(pmu, guest, &options(Engine::Kvm)).expect("KVM is ready");
        let on_interpreter = run(pmu, guest, &options(Engine::Interpreter)).expect("it runs everything");
        assert!(on_kvm.passed, "{}", on_kvm.ending);
        assert_same(guest, &on_kvm, &on_interpreter);
    }
}

/// The most instructions of a guest that is moved that KVM executes: the larger guests are moved early, or late.
const ON_KVM: u64 = 60_000;

/// Saved on one engine, the guest continues with the other.
fn goes_on(test: &str, pmu: &str, guest: &str) {
    if ready(test) {
        let whole = run(pmu, guest, &options(Engine::Interpreter)).expect("it runs everything");
        let (middle, all) = (whole.instructions / 2, whole.instructions);
        let early = (Engine::Kvm, Engine::Interpreter, middle.min(ON_KVM));
        let late = (Engine::Interpreter, Engine::Kvm, middle.max(all.saturating_sub(ON_KVM)));
        for (from, to, steps) in [early, late] {
            let moved = Options { save_at: Some(steps), go_on_with: Some(to), ..options(from) };
            let moved = run(pmu, guest, &moved).expect("what one saves the other restores");
            assert_same(&format!("{guest} from {from} to {to}"), &moved, &whole);
        }
    }
}

macro_rules! guests {
    ($($pmu:ident { $($test:ident $guest:literal),* $(,)? })*) => {
        $(mod $pmu {
            $(#[test]
            fn $test() {
                super::runs_the_same(concat!(stringify!($pmu), "::", stringify!($test)), stringify!($pmu), $guest);
            })*

            mod moved {
                $(#[test]
                fn $test() {
                    super::super::goes_on(concat!(stringify!($pmu), "::moved::", stringify!($test)), stringify!($pmu), $guest);
                })*
            }
        })*

        /// The guests that have a test.
        const TESTED: &[(&str, &str)] = &[$($((stringify!($pmu), $guest)),*),*];
    };
}

guests! {
    k8 {
        count "count", filter "filter", overflow "overflow", profile "profile", edge_mask "edge-mask", northbridge "northbridge",
        user_rdpmc "user-rdpmc", hostile "hostile", linux_probe "linux-probe", nmi_watchdog "nmi-watchdog", two_cpus "two-cpus",
        clock "clock",
        chase "chase", stride "stride", page_stride "page-stride", branches "branches", call_depth "call-depth", code "code",
        false_sharing "false-sharing", dma "dma", nodes "nodes", self_modifying "self-modifying",
    }
    knl {
        probe "probe", count "count", filter "filter", branches "branches", global_control "global-control", overflow "overflow",
        freeze "freeze", profile "profile", linux_driver "linux-driver", nmi_watchdog "nmi-watchdog", user_rdpmc "user-rdpmc",
        hostile "hostile", clock "clock", any_thread "any-thread", tile "tile", offcore "offcore", latency "latency", pci_probe "pci-probe",
        linux_uncore "linux-uncore", untile_clocks "untile-clocks", untile_frequencies "untile-frequencies", thresholds "thresholds", mesh_events "mesh-events", mesh_routes "mesh-routes",
        global_freeze "global-freeze", likwid_groups "likwid-groups", untile_eight_cpus "untile-eight-cpus",
        untile_hostile "untile-hostile", mcdram_bandwidth "mcdram-bandwidth", flat_memory "flat-memory",
        hybrid_memory "hybrid-memory", mc_cas "mc-cas", edc_queues "edc-queues",
        cha_filter "cha-filter", tor_occupancy "tor-occupancy", dma "dma",
    }
}

#[test]
fn every_guest_of_x86_has_a_test() {
    let of_x86 = vm_pmu_guests::all().filter(|guest| Engine::Kvm.executes(guest.pmu));
    let missing: Vec<_> = of_x86.map(|guest| (guest.pmu, guest.name)).filter(|guest| !TESTED.contains(guest)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn guests_pass_with_each_cpu_on_a_thread_of_its_own() {
    if ready("guests_pass_with_each_cpu_on_a_thread_of_its_own") {
        // `tile` counts reads that memory supplies: in parallel it depends on which tile comes first whether another tile does.
        for (pmu, guest) in [("k8", "northbridge"), ("knl", "untile-eight-cpus")] {
            let report = run(pmu, guest, &Options { parallel: true, ..options(Engine::Kvm) }).expect("KVM is ready");
            assert!(report.passed, "{guest}: {}", report.ending);
        }
    }
}

/// Runs a guest of CPU 0 and, in ring 3, of `user`, on both engines.
fn runs_alike(test: &str, user: impl FnOnce(&mut CodeAssembler), build: impl FnOnce(&mut Kernel, u64)) {
    if !ready(test) {
        return;
    }
    let mut ring_3 = User::new().expect("64 bits");
    let mut entry = ring_3.a.create_label();
    ring_3.a.set_label(&mut entry).expect("one label");
    user(&mut ring_3.a);
    ring_3.a.syscall().expect("it is encodable");
    let (code, [entry]) = ring_3.finish([entry]).expect("it assembles");
    let mut kernel = Kernel::new(code).expect("it assembles");
    kernel.main().expect("one main");
    build(&mut kernel, entry);
    kernel.a.ret().expect("it is encodable");
    let image: Image = kernel.finish().expect("it assembles");
    let on = |engine| run_image("k8", test, &image, 1, Clock::Embedder, &options(engine)).expect("KVM is ready");
    let (on_kvm, on_interpreter) = (on(Engine::Kvm), on(Engine::Interpreter));
    assert!(on_interpreter.passed, "{}", on_interpreter.ending);
    assert_same(test, &on_kvm, &on_interpreter);
}

#[test]
fn pushed_flags_are_those_of_the_guest() {
    // IOPL 3, interrupts off: a vCPU has neither, and steps by its own flag.
    let user = |a: &mut CodeAssembler| {
        a.stc().expect("encodable");
        a.pushfq().expect("encodable");
        a.pop(rbx).expect("encodable");
    };
    runs_alike("pushed_flags_are_those_of_the_guest", user, |k, entry| {
        k.enter_user(entry, 0x3002).expect("encodable");
        k.check_is("flags that ring 3 pushed", rbx, 0x3003).expect("encodable");
        k.a.std().expect("encodable");
        k.a.pushfq().expect("encodable");
        k.a.pop(rbx).expect("encodable");
        k.a.cld().expect("encodable");
        k.a.and(ebx, 0x700).expect("encodable");
        k.check_is("direction and trap flag that ring 0 pushed", rbx, 0x400).expect("encodable");
    });
}

#[test]
fn repeated_strings_are_a_step_an_iteration_and_end_where_they_should() {
    let user = |a: &mut CodeAssembler| {
        // Over the end of a page.
        let program: Result<(), iced_x86::IcedError> = (|| {
            a.mov(rdi, USER_DATA + 0x0FFC)?;
            a.mov(eax, 0x0403_0201)?;
            a.mov(ecx, 9)?;
            a.rep().stosd()?;
            a.mov(rsi, USER_DATA + 0x0FFC)?;
            a.mov(rdi, USER_DATA + 0x2000)?;
            a.mov(ecx, 9)?;
            a.rep().movsd()?;
            a.mov(rdi, USER_DATA + 0x2000)?;
            a.mov(al, 4)?;
            a.mov(ecx, 100)?;
            a.repne().scasb()?;
            a.mov(rbx, rcx)?;
            a.mov(byte_ptr(USER_DATA + 0x2024), 7)?;
            a.mov(rsi, USER_DATA + 0x0FFC)?;
            a.mov(rdi, USER_DATA + 0x2000)?;
            a.mov(ecx, 100)?;
            a.repe().cmpsb()?;
            a.mov(rbp, rcx)
        })();
        program.expect("encodable");
    };
    runs_alike("repeated_strings_are_a_step_an_iteration_and_end_where_they_should", user, |k, entry| {
        k.enter_user(entry, 2).expect("encodable");
        k.check_is("left when a byte was found", rbx, 96).expect("encodable");
        k.check_is("left when strings differed", rbp, 63).expect("encodable");
    });
}

#[test]
fn a_read_only_page_faults_on_either_engine() {
    let user = |a: &mut CodeAssembler| {
        // Not present for ring 3: #PF, which the runtime reports as an unexpected exception.
        a.mov(rax, qword_ptr(0x30_0000)).expect("encodable");
    };
    if ready("a_read_only_page_faults_on_either_engine") {
        let mut ring_3 = User::new().expect("64 bits");
        user(&mut ring_3.a);
        let (code, []) = ring_3.finish([]).expect("it assembles");
        let mut kernel = Kernel::new(code).expect("it assembles");
        kernel.main().expect("one main");
        kernel.enter_user(vm_pmu_guests::runtime::USER_CODE, 2).expect("encodable");
        let image = kernel.finish().expect("it assembles");
        let on = |engine| run_image("k8", "fault", &image, 1, Clock::Embedder, &options(engine)).expect("KVM is ready");
        let (on_kvm, on_interpreter) = (on(Engine::Kvm), on(Engine::Interpreter));
        assert!(!on_interpreter.passed);
        assert_same("a page of ring 0", &on_kvm, &on_interpreter);
    }
}
