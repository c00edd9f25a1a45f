//! x
mod grown;
use std::collections::*;
use grown::Grown;
use vm_pmu::arch::event::*;
use vm_pmu::arch::power9::encode::{EventCode, Options as EncodeOptions, encode};
use vm_pmu::arch::registry::NAMES;
use vm_pmu::companion::{Builder,Clock};
use vm_pmu::{Part,Signal};
use vm_pmu_guest_tests::{attach, guests, driven};
use vm_pmu_guest_tests::runner::{self,Options};
use std::time::Instant;

#[test]
fn explore_signals() {
    for name in NAMES {
        let part = Part::named(name).unwrap();
        let c = part.catalogue();
        let mut named: BTreeSet<Signal> = BTreeSet::new();
        for e in c.entries { named.extend(driven::sources(e)); named.extend(e.edges); named.extend(e.prefetches); }
        let engine = |s: Signal| match *name { "power9" => attach::power::supplies(s), "itanium"|"montecito" => attach::itanium::supplies(s), _ => attach::supplies(s) };
        let comp = Builder::new(name).unwrap().clock(Clock::Companion).build();
        for accompanied in [false, true] {
            let start = Instant::now();
            let mut grown = Grown::default();
            for guest in guests::of(name).filter(|g| g.chips == 0) { let t=Instant::now(); grown.run(guest, part, accompanied, 100_000); if t.elapsed().as_secs_f32()>2.0 {println!("  slow {} {:?}", guest.name, t.elapsed());} }
            println!("{name} accompanied {accompanied} {:?}", start.elapsed());
            let missing: Vec<_> = Signal::all().filter(|s| if accompanied { comp.supplies(*s) } else { engine(*s) }).filter(|s| !grown.has(*s, &[])).map(|s| format!("{}{}", s.name(), if named.contains(&s) {"*"} else {""})).collect();
            println!("  missing {missing:?}");
            let extra: Vec<_> = Signal::all().filter(|s| named.contains(s) && grown.has(*s,&[]) && !(engine(*s) || comp.supplies(*s))).map(|s| s.name()).collect();
            println!("  extra {extra:?}");
            if *name=="power9" { let mp: Vec<_> = c.entries.iter().filter(|e| e.when.contains(&When::Problem)||e.when.contains(&When::Privileged)).filter(|e| e.drive==Drive::Signals && !e.signals.is_empty() && e.signals.iter().any(|s| engine(*s)||comp.supplies(*s)) && !e.signals.iter().any(|s| grown.has(*s, e.when))).map(|e| e.name).collect(); println!("  state missing {mp:?}"); }
        }
    }
}

#[test]
fn explore_power9() {
    let part = Part::named("power9").unwrap();
    let entries: Vec<_> = part.catalogue().entries.iter().filter(|e| e.unit=="core" && e.offset.is_none() && e.fidelity != Fidelity::Injected).collect();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let code = |i: usize| EventCode::from_bits(u64::from(entries[i].select));
    for i in 0..entries.len() {
        let fits = groups.iter().position(|g: &Vec<usize>| { let mut v: Vec<EventCode> = g.iter().map(|j| code(*j)).collect(); v.push(code(i)); encode(&v, EncodeOptions::default()).is_ok() });
        match fits { Some(g) => groups[g].push(i), None => if encode(&[code(i)], EncodeOptions::default()).is_ok() { groups.push(vec![i]) } else { println!("cannot encode {}", entries[i].name) } }
    }
    println!("{} events {} groups", entries.len(), groups.len());
    let enc: Vec<_> = groups.iter().map(|g| encode(&g.iter().map(|j| code(*j)).collect::<Vec<_>>(), EncodeOptions::default()).unwrap()).collect();
    let mut counted = vec![0u64; entries.len()];
    for guest in guests::of("power9") {
        let start = Instant::now();
        let (report, counts) = runner::count("power9", guest.name, &Options { limit: 100_000, ..Options::default() }, &enc).unwrap();
        for ((g, e), c) in groups.iter().zip(&enc).zip(&counts) { for (k, i) in g.iter().enumerate() { if let Some(n) = e.counter_of(k) { counted[*i] += c[usize::from(n)-1]; } } }
        println!("  {} {:?} {} {}", guest.name, start.elapsed(), report.instructions, report.passed);
    }
    for (i, e) in entries.iter().enumerate() { if counted[i]==0 { println!("zero {} {:x} {:?} {:?} {:?} {:?}", e.name, e.select, e.fidelity, e.drive, e.signals, e.when); } }
}

#[test]
fn explore_posted() {
    let part = Part::named("power9").unwrap();
    let mut seen = BTreeSet::new();
    for guest in guests::of("power9").filter(|g| g.chips != 0) { let r = runner::run("power9", guest.name, &Options { limit: 3_000_000, ..Options::default() }).unwrap(); println!("{} {}", guest.name, r.passed); seen.extend(r.posted.into_iter().map(|p| p.event)); }
    for e in part.catalogue().entries.iter().filter(|e| e.unit=="nest" && e.fidelity!=Fidelity::Injected && !seen.contains(e.name)) { println!("not posted {} {:x} {:?} {:?}", e.name, e.select, e.fidelity, e.drive); }
}

#[test]
fn explore_ia64() {
    for name in ["itanium","montecito"] {
        let part = Part::named(name).unwrap();
        let mut seen = BTreeSet::new();
        for guest in guests::of(name) { let r = runner::run(name, guest.name, &Options { limit: 3_000_000, ..Options::default() }).unwrap(); seen.extend(r.counts.into_iter().filter(|c| c.count!=0).map(|c| c.event)); }
        for e in part.catalogue().entries.iter().filter(|e| matches!(e.drive, Drive::Internal(_)) && !seen.contains(e.name)) { println!("{name} not counted {} {:?}", e.name, e.drive); }
    }
}
