//! Where an event is counted: the register to read.

use vm_pmu::arch::event::{AllThreads, Entry, Extent};
use vm_pmu::arch::knl::{GENERAL, THREADS_PER_CORE, THREADS_PER_TILE};
use vm_pmu::{Address, Part};
use vm_pmu_board::beside::Counter;

use crate::dialect::{Programming, names, select};

/// PerfCtr0.
const K8_FIRST: u32 = 0xC001_0004;
/// IA32_A_PMC0, of which all bits can be written.
const KNL_FIRST: u32 = 0x4C1;
/// IA32_FIXED_CTR0.
const KNL_FIXED: u32 = 0x309;
/// PMC1; there is no PMC0.
const POWER_FIRST: u16 = 787;
/// Threads of a core of Montecito.
const MONTECITO_THREADS: usize = 2;

/// The counter of an event on `part`, `asked` for in these words. Nothing if no counter counts it.
#[must_use]
pub fn counter(part: Part, asked: &str, programming: &Programming) -> Option<Counter> {
    let number = programming.counter;
    let entry = programming.event.as_deref().and_then(|event| names::entry(part, event)).or_else(|| names::entry(part, asked));
    let shared_by = shared_by(part, asked, entry);
    let of_thread = |register, bits| Some(Counter { registers: vec![register], bits, shared_by });
    match part {
        Part::K8(_) => of_thread(Address::Msr(K8_FIRST + number), 48),
        Part::Knl(_) if programming.writes.iter().any(|write| write.register.name.contains("_PMON_")) => of_box(part, programming),
        Part::Knl(_) => {
            let fixed = number.checked_sub(GENERAL as u32);
            of_thread(Address::Msr(fixed.map_or(KNL_FIRST + number, |fixed| KNL_FIXED + fixed)), 40)
        }
        Part::Power9(_) if programming.writes.is_empty() => None,
        Part::Power9(_) => of_thread(Address::Spr(POWER_FIRST + (number as u16).checked_sub(1)?), 32),
        Part::Itanium(_) => of_thread(Address::Pmd(number as u8), 32),
        Part::Montecito(_) => of_thread(Address::Pmd(number as u8), 47),
    }
}

/// In how many threads the same is counted.
fn shared_by(part: Part, asked: &str, entry: Option<&Entry>) -> usize {
    let has_word = |wanted: &str| asked.split(':').skip(1).any(|word| word == wanted);
    match (part, entry) {
        (Part::Knl(_), Some(entry)) if entry.extent == Extent::Tile => THREADS_PER_TILE.into(),
        (Part::Knl(_), Some(entry)) if entry.extent == Extent::Core => THREADS_PER_CORE.into(),
        (Part::Knl(_), _) if has_word("any") => THREADS_PER_CORE.into(),
        (Part::Montecito(_), Some(entry)) if entry.all_threads == AllThreads::Always => MONTECITO_THREADS,
        (Part::Montecito(_), _) if has_word("all") => MONTECITO_THREADS,
        _ => 1,
    }
}

/// The counter of a box, which is the machine's. It stands beside its control, the only one of the kind that an event writes.
fn of_box(part: Part, programming: &Programming) -> Option<Counter> {
    let control = programming.writes.iter().map(|write| write.register.name).find(|name| {
        let (_, tail) = name.split_once("_PMON_").unwrap_or_default();
        tail.starts_with("CTL") || tail == "FIXED_CTL"
    })?;
    let name = match control.strip_suffix("FIXED_CTL") {
        Some(owner) => format!("{owner}FIXED_CTR"),
        None => control.replace("_PMON_CTL", "_PMON_CTR"),
    };
    let registers = select::registers(part);
    let named = |name: &str| registers.iter().find(|register| register.name == name).map(|register| register.address);
    let registers = match named(&name) {
        Some(whole) => vec![whole],
        None => vec![named(&format!("{name}_LOW"))?, named(&format!("{name}_HIGH"))?],
    };
    Some(Counter { registers, bits: 48, shared_by: usize::MAX })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::program;

    fn registers(pmu: &str, event: &str) -> (Vec<Address>, usize) {
        let part = Part::named(pmu).unwrap();
        let programming = program(part, &[event]).unwrap().remove(0);
        let counter = counter(part, event, &programming).unwrap();
        (counter.registers, counter.shared_by)
    }

    #[test]
    fn every_part_has_its_counters_where_its_manual_says() {
        assert_eq!(registers("k8", "CPU_CLK_UNHALTED"), (vec![Address::Msr(0xC001_0004)], 1));
        assert_eq!(registers("knl", "BR_INST_RETIRED.CALL"), (vec![Address::Msr(0x4C1)], 1));
        assert_eq!(registers("knl", "CPU_CLK_UNHALTED.THREAD"), (vec![Address::Msr(0x30A)], 1));
        assert_eq!(registers("power9", "PM_INST_CMPL"), (vec![Address::Spr(787)], 1));
        assert_eq!(registers("itanium", "CPU_CYCLES"), (vec![Address::Pmd(4)], 1));
        assert_eq!(registers("montecito", "CPU_OP_CYCLES.ALL"), (vec![Address::Pmd(4)], 1));
    }

    #[test]
    fn what_a_tile_or_core_counts_together_is_read_once() {
        assert_eq!(registers("knl", "OFFCORE_RESPONSE.DEMAND_RFO.DDR").1, 8);
        assert_eq!(registers("knl", "INST_RETIRED.ANY:any").1, 4);
        assert_eq!(registers("montecito", "CPU_OP_CYCLES.ALL:all").1, 2);
    }

    #[test]
    fn the_counter_of_a_box_is_one_register_or_two_halves() {
        assert_eq!(registers("knl", "cha0::TOR_INSERTS.IRQ"), (vec![Address::Msr(0xE08)], usize::MAX));
        assert_eq!(registers("knl", "edc-eclk0::RPQ.INSERTS").0.len(), 2);
    }
}
