//! What SIER says of a sampled instruction (appendix A.7).

use super::marked::Life;
use super::{Mmcra, Msr, Sier};
use crate::feed::{DataSource, ExecutionUnit, FetchSource, Prediction, Stage, StoreOutcome, Traits};

/// SIER in continuous sampling, of an instruction of this TYPE: its valid bits are 0 (section 2.3).
pub(super) fn continuous(msr: Msr, kind: u8) -> Sier {
    let mut sier = Sier::default();
    sier.set_msr_pr(msr.pr());
    sier.set_msr_hv(msr.hv());
    sier.set_kind(kind);
    sier
}

/// SIER of the sampled instruction `life`, whose thread is in the state `msr` and whose threshold was reached or not.
///
/// What has no code in the manual, and what was not reported, has the code 0, which is reserved in most fields.
pub(super) fn sier(life: &Life<'_>, msr: Msr, mmcra: Mmcra, threshold_reached: bool) -> Sier {
    let mut sier = continuous(msr, kind(life));
    let record = life.record();
    let sample = &record.sample;

    sier.set_pempty(life.is(Traits::AFTER_EMPTY));
    let next = life.at(Stage::NextToComplete);
    sier.set_iss_stall(next.is_some_and(|next| life.at(Stage::Issued).is_some_and(|issued| issued > next)));
    sier.set_cmpl_stall(next.is_some_and(|next| life.at(Stage::Completed).is_some_and(|completed| completed > next)));
    sier.set_fin_stall_reason(sample.stall_reason & 0xF);
    sier.set_siar_valid(true);
    sier.set_sdar_valid(record.memory.is_some());
    sier.set_te(threshold_reached);
    sier.set_slew_dn(life.is(Traits::SLEW_DOWN));
    sier.set_slew_up(life.is(Traits::SLEW_UP));
    sier.set_cmpl(life.completed());
    // Which cache it was fetched from is not kept for an instruction that was chosen after an event.
    if life.by_instruction_sampling() {
        sier.set_icache(match sample.fetch_source {
            FetchSource::Unknown | FetchSource::L1 => 1,
            FetchSource::L2 => 2,
            FetchSource::L3 => 3,
            FetchSource::Beyond => 4,
        });
    }

    sier.set_tak_br(life.taken());
    sier.set_mpred(life.mispredicted());
    sier.set_mpred_type(match life.prediction() {
        Prediction::None | Prediction::Right => 0,
        Prediction::WrongDirection => 1,
        Prediction::WrongTarget => 2,
    });
    sier.set_mpred_ccache(life.mispredicted() && life.is(Traits::COUNT_CACHE));

    let (ldst, data_src) = data(life);
    sier.set_ldst(ldst);
    sier.set_data_src(data_src);
    sier.set_load_merge(life.is(Traits::LOAD_MERGED));
    sier.set_stcx_fail(life.is(Traits::CONDITIONAL_FAILED));
    sier.set_st_fwd(life.store_forwarded());

    let (xlate, xlate_src) = translation(life);
    sier.set_derat_miss(life.first_translation_miss());
    sier.set_derat_reload_rp(life.is(Traits::RADIX_RELOAD));
    sier.set_a_xlate_src(xlate);
    sier.set_xlate_src(xlate_src);
    if life.first_translation_miss() {
        sier.set_page_size(page_size(sample.page_bits));
    }

    sier.set_ext(sample.fabric.scope & 0b111);
    sier.set_cresp(sample.fabric.response & 0b1_1111);
    sier.set_ttype(sample.fabric.transaction & 0b111);
    sier.set_loc_mem_busy(sample.fabric.memory_busy & 0b11);
    if mmcra.sier_ctrl() { with_real_address(sier, sample.real_address) } else { sier }
}

/// TYPE: an instruction that reads or writes memory is a load or a store whatever unit executed it, else the unit decides. A load/store
/// unit that does neither has no code.
pub(super) fn kind(life: &Life<'_>) -> u8 {
    match life.unit() {
        _ if life.load() => 1,
        _ if life.store() => 2,
        ExecutionUnit::Branch => 3,
        ExecutionUnit::VectorScalar => 4,
        ExecutionUnit::FixedPoint => 5,
        // Printed as 5 again; 6 is the code between that and the reserved 7.
        ExecutionUnit::Fetch => 6,
        ExecutionUnit::LoadStore | ExecutionUnit::Unknown => 0,
    }
}

/// The two parts of a reload source in Table A-6: the architected code of LDST and A_XLATE_SRC, and its extension.
fn reload(code: u8) -> (u8, u8) {
    match code {
        0x00..=0x03 => (2, code),
        0x04 => (3, 0),
        0x05 => (3, 1),
        0x07 => (3, 2),
        0x10..=0x13 => (5, (code & 0b11).saturating_add(2)),
        0x14..=0x17 => (6, code & 0b11),
        0x18 => (5, 0),
        0x19 => (5, 1),
        0x1A..=0x1F => (4, code.saturating_sub(0x1A)),
        _ => (0, 0),
    }
}

/// LDST and DATA_SRC.
///
/// A load from an older store counts as one that the first level answered: it reloaded nothing. A store is in the cache hierarchy once it
/// has completed, as the first level is written through; only a store whose line is in the first level, as the embedder reports, and of
/// which nothing more is known, has not missed it.
fn data(life: &Life<'_>) -> (u8, u8) {
    let Some(memory) = life.record().memory else { return (0, 0) };
    if memory.load {
        return match (life.reload_source(), memory.source) {
            (Some(code), _) => reload(code),
            (None, DataSource::Cache(1) | DataSource::StoreForward) => (1, 0),
            (None, _) if life.store_forwarded() => (1, 0),
            (None, _) => (0, 0),
        };
    }
    let outcome = life.record().sample.store_outcome;
    if !memory.store || !life.completed() || memory.source == DataSource::Cache(1) && outcome == StoreOutcome::None {
        return (0, 0);
    }
    let extension = match outcome {
        StoreOutcome::None | StoreOutcome::Direct => 0,
        StoreOutcome::Completed => 1,
        StoreOutcome::Intervention => 2,
    };
    (7, extension)
}

/// A_XLATE_SRC and XLATE_SRC, of an address that the ERAT did not have.
fn translation(life: &Life<'_>) -> (u8, u8) {
    match life.walk_source() {
        Some(code) => reload(code),
        None if life.first_translation_miss() && !life.translation_miss() => (1, 0),
        None => (0, 0),
    }
}

/// PAGE_SIZE, from the binary logarithm of the size in bytes.
///
/// The codes name the sizes of hashed tables: 4 KB, 64 KB, 16 MB and 16 GB. Radix tables have 2 MB and 1 GB in the place of the last two,
/// and the guide counts each pair as one (PM_DERAT_MISS_16M_2M, PM_DERAT_MISS_16G_1G: section 5.7). A size that is none of the six has the
/// code of the next smaller one.
fn page_size(bits: u8) -> u8 {
    match bits {
        0..=15 => 0,
        16..=20 => 1,
        21..=29 => 2,
        _ => 3,
    }
}

/// `sier` with bits 44:56 of a real address in its bits 16:28.
fn with_real_address(sier: Sier, address: u64) -> Sier {
    const WIDTH: u64 = (1 << 13) - 1;
    const PLACE: u32 = 63 - 28;
    const LAST: u32 = 63 - 56;
    Sier::written(sier.bits() & !(WIDTH << PLACE) | (address >> LAST & WIDTH) << PLACE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::{Branch, BranchKind, Fabric, Memory, Record, Sample, Stages, Translation};

    fn of(record: &Record) -> Sier {
        sier(&Life::new(record, Mmcra::written(1)), Msr::default(), Mmcra::written(1), false)
    }

    fn bit(sier: Sier, number: u32) -> bool {
        sier.bits() >> (63 - number) & 1 == 1
    }

    fn access(load: bool, source: DataSource) -> Record {
        let memory = Memory { address: 0x1234, size: 8, load, store: !load, latency: 0, source, translation: Translation::Unknown };
        Record { memory: Some(memory), ..Record::at(0x100) }
    }

    fn with(record: Record, sample: Sample) -> Record {
        Record { sample, ..record }
    }

    #[test]
    fn continuous_sampling_shows_the_state_and_the_type() {
        // MSR[HV] is bit 3, MSR[PR] bit 49; SIER[MSR_PR] is bit 38, SIER[MSR_HV] bit 39, the last of TYPE bit 48.
        assert_eq!(continuous(Msr::written(1 << 60), 0).bits(), 1 << 24);
        assert_eq!(continuous(Msr::written(1 << 14), 0).bits(), 1 << 25);
        assert_eq!(continuous(Msr::default(), 5).bits(), 5 << 15);
    }

    #[test]
    fn the_state_is_that_of_the_thread() {
        let life = Record::at(0);
        let both = sier(&Life::new(&life, Mmcra::default()), Msr::written(1 << 60 | 1 << 14), Mmcra::default(), true);
        assert!(bit(both, 38) && bit(both, 39) && bit(both, 43));
        assert!(!bit(of(&life), 38) && !bit(of(&life), 39) && !bit(of(&life), 43));
    }

    #[test]
    fn an_instruction_of_which_nothing_is_known_is_fixed_point_and_completed() {
        // CMPL_STALL (2): next to complete at 0, completed at 1. SIAR_VALID (41), TYPE 5 (46:48), ICACHE 1 (49:51), CMPL (63).
        assert_eq!(of(&Record::at(0x100)).bits(), 1 << 61 | 1 << 22 | 5 << 15 | 1 << 12 | 1);
    }

    #[test]
    fn each_trait_has_its_bit() {
        let rows = [
            (Traits::AFTER_EMPTY, 0),
            (Traits::LOAD_MERGED, 29),
            (Traits::CONDITIONAL_FAILED, 30),
            (Traits::STORE_FORWARDED, 31),
            (Traits::RADIX_RELOAD, 32),
            (Traits::SLEW_DOWN, 44),
            (Traits::SLEW_UP, 45),
            (Traits::FIRST_TRANSLATION_MISS, 56),
        ];
        for (traits, number) in rows {
            let record = with(Record::at(0), Sample { traits, ..Sample::default() });
            assert!(bit(of(&record), number), "{traits:?}");
            assert!(!bit(of(&Record::at(0)), number), "{traits:?}");
        }
    }

    #[test]
    fn a_stall_is_what_came_later_than_next_to_complete() {
        let stages = |issued, completed| {
            let stages = Stages::NONE.with(Stage::NextToComplete, 10).with(Stage::Issued, issued).with(Stage::Completed, completed);
            let sier = of(&with(Record::at(0), Sample { stages: Some(stages), ..Sample::default() }));
            (sier.iss_stall(), sier.cmpl_stall())
        };
        assert_eq!(stages(5, 10), (false, false));
        assert_eq!(stages(11, 10), (true, false));
        assert_eq!(stages(10, 11), (false, true));
    }

    #[test]
    fn every_row_of_table_a_6_is_shown() {
        // Reload source, LDST, DATA_SRC.
        let rows = [
            (0x00, 0b010, 0b000),
            (0x01, 0b010, 0b001),
            (0x02, 0b010, 0b010),
            (0x03, 0b010, 0b011),
            (0x04, 0b011, 0b000),
            (0x05, 0b011, 0b001),
            (0x07, 0b011, 0b010),
            (0x1A, 0b100, 0b000),
            (0x1B, 0b100, 0b001),
            (0x1C, 0b100, 0b010),
            (0x1D, 0b100, 0b011),
            (0x1E, 0b100, 0b100),
            (0x1F, 0b100, 0b101),
            (0x18, 0b101, 0b000),
            (0x19, 0b101, 0b001),
            (0x10, 0b101, 0b010),
            (0x11, 0b101, 0b011),
            (0x12, 0b101, 0b100),
            (0x13, 0b101, 0b101),
            (0x14, 0b110, 0b000),
            (0x15, 0b110, 0b001),
            (0x16, 0b110, 0b010),
            (0x17, 0b110, 0b011),
        ];
        for (code, architected, extension) in rows {
            let sample = Sample { reload_source: Some(code), walk_source: Some(code), ..Sample::default() };
            let sier = of(&with(access(true, DataSource::Unknown), sample));
            assert_eq!((sier.ldst(), sier.data_src()), (architected, extension), "{code:x}");
            assert_eq!((sier.a_xlate_src(), sier.xlate_src()), (architected, extension), "{code:x}");
        }
        // Codes that the table does not have.
        for code in [0x06, 0x08, 0x0F] {
            let sier = of(&with(access(true, DataSource::Unknown), Sample { reload_source: Some(code), ..Sample::default() }));
            assert_eq!((sier.ldst(), sier.data_src()), (0, 0), "{code:x}");
        }
    }

    #[test]
    fn a_source_that_is_not_stated_is_that_of_the_access() {
        let rows = [
            (DataSource::Unknown, 0, 0),
            (DataSource::Device, 0, 0),
            (DataSource::Cache(1), 1, 0),
            (DataSource::StoreForward, 1, 0),
            (DataSource::Cache(2), 2, 0),
            (DataSource::Cache(3), 3, 0),
            (DataSource::LocalMemory, 4, 1),
            (DataSource::RemoteMemory, 4, 3),
            (DataSource::OtherCore { modified: false }, 5, 0),
            (DataSource::OtherCore { modified: true }, 5, 1),
            (DataSource::OtherPackage { modified: false }, 6, 0),
            (DataSource::OtherPackage { modified: true }, 6, 1),
            (DataSource::OtherL3 { modified: false }, 5, 2),
            (DataSource::OtherL3 { modified: true }, 5, 3),
            (DataSource::LentL3 { modified: false }, 5, 4),
            (DataSource::LentL3 { modified: true }, 5, 5),
            (DataSource::DistantPackage { modified: false }, 6, 2),
            (DataSource::DistantPackage { modified: true }, 6, 3),
            (DataSource::LocalL4, 4, 0),
            (DataSource::RemoteL4, 4, 2),
            (DataSource::DistantL4, 4, 4),
            (DataSource::DistantMemory, 4, 5),
        ];
        for (source, ldst, extension) in rows {
            let sier = of(&access(true, source));
            assert_eq!((sier.ldst(), sier.data_src()), (ldst, extension), "{source:?}");
        }
        assert!(of(&access(true, DataSource::StoreForward)).st_fwd());
    }

    #[test]
    fn a_store_that_went_out_says_how() {
        let rows = [(StoreOutcome::None, 0), (StoreOutcome::Direct, 0), (StoreOutcome::Completed, 1), (StoreOutcome::Intervention, 2)];
        for (store_outcome, extension) in rows {
            let sier = of(&with(access(false, DataSource::Unknown), Sample { store_outcome, ..Sample::default() }));
            assert_eq!((sier.ldst(), sier.data_src()), (7, extension), "{store_outcome:?}");
        }
        assert_eq!(of(&access(false, DataSource::Cache(1))).ldst(), 0);
        let discarded = Sample { traits: Traits::DISCARDED, ..Sample::default() };
        let sier = of(&with(access(false, DataSource::Unknown), discarded));
        assert!(sier.ldst() == 0 && !sier.cmpl());
    }

    #[test]
    fn a_translation_that_the_tlb_had_says_so() {
        let mut record = access(true, DataSource::Cache(1));
        let mut translated = |translation| {
            record.memory = record.memory.map(|memory| Memory { translation, ..memory });
            let sier = of(&record);
            (sier.derat_miss(), sier.a_xlate_src())
        };
        assert_eq!(translated(Translation::Unknown), (false, 0));
        assert_eq!(translated(Translation::Hit(1)), (false, 0));
        assert_eq!(translated(Translation::Hit(2)), (true, 1));
        assert_eq!(translated(Translation::Walk), (true, 0));
    }

    #[test]
    fn the_page_of_an_erat_miss_has_the_code_of_its_size_or_of_its_counterpart_in_hashed_tables() {
        let rows = [(0, 0), (12, 0), (16, 1), (21, 2), (24, 2), (30, 3), (34, 3)];
        for (page_bits, code) in rows {
            let missed = Sample { page_bits, traits: Traits::FIRST_TRANSLATION_MISS, ..Sample::default() };
            assert_eq!(of(&with(access(true, DataSource::Cache(1)), missed)).page_size(), code, "{page_bits}");
            let hit = Sample { page_bits, ..Sample::default() };
            assert_eq!(of(&with(access(true, DataSource::Cache(1)), hit)).page_size(), 0);
        }
    }

    #[test]
    fn every_kind_of_instruction_has_its_type() {
        let rows = [
            (ExecutionUnit::LoadStore, 0),
            (ExecutionUnit::Branch, 3),
            (ExecutionUnit::VectorScalar, 4),
            (ExecutionUnit::FixedPoint, 5),
            (ExecutionUnit::Fetch, 6),
        ];
        for (unit, kind) in rows {
            let sample = Sample { unit, ..Sample::default() };
            assert_eq!(of(&with(Record::at(0), sample)).kind(), kind, "{unit:?}");
            assert_eq!(of(&with(access(true, DataSource::Unknown), sample)).kind(), 1);
            assert_eq!(of(&with(access(false, DataSource::Unknown), sample)).kind(), 2);
        }
    }

    #[test]
    fn only_instruction_sampling_says_where_it_was_fetched() {
        let rows = [(FetchSource::Unknown, 1), (FetchSource::L1, 1), (FetchSource::L2, 2), (FetchSource::L3, 3), (FetchSource::Beyond, 4)];
        for (fetch_source, code) in rows {
            let record = with(Record::at(0), Sample { fetch_source, ..Sample::default() });
            assert_eq!(of(&record).icache(), code, "{fetch_source:?}");
            let branches = Mmcra::written(2 << 1 | 1);
            assert_eq!(sier(&Life::new(&record, branches), Msr::default(), branches, false).icache(), 0);
        }
    }

    #[test]
    fn a_branch_says_whether_it_was_taken_and_what_was_mispredicted() {
        let branch = |taken, prediction, traits| {
            let branch = Branch { kind: BranchKind::IndirectJump, taken, target: 0, prediction };
            let sier = of(&Record { branch: Some(branch), sample: Sample { traits, ..Sample::default() }, ..Record::at(0) });
            (sier.tak_br(), sier.mpred(), sier.mpred_type(), sier.mpred_ccache())
        };
        assert_eq!(branch(true, Prediction::Right, Traits::COUNT_CACHE), (true, false, 0, false));
        assert_eq!(branch(false, Prediction::WrongDirection, Traits::empty()), (false, true, 1, false));
        assert_eq!(branch(true, Prediction::WrongTarget, Traits::COUNT_CACHE), (true, true, 2, true));
    }

    #[test]
    fn sdar_is_valid_for_an_access() {
        assert!(bit(of(&access(true, DataSource::Unknown)), 42));
        assert!(!bit(of(&Record::at(0)), 42));
    }

    #[test]
    fn the_fabric_is_shown_as_stated_unless_the_real_address_is() {
        let fabric = Fabric { scope: 0b101, response: 0b1_0011, transaction: 0b110, memory_busy: 0b10, ..Fabric::default() };
        // Bits 44 and 56 of the address, the ends of what is shown, and their neighbours, which are not.
        let real_address = 1 << 20 | 1 << 19 | 1 << 7 | 1 << 6;
        let sample = Sample { fabric, real_address, stall_reason: 0b1001, ..Sample::default() };
        let record = with(access(true, DataSource::Unknown), sample);
        let shown = of(&record);
        assert_eq!((shown.ext(), shown.cresp(), shown.ttype(), shown.loc_mem_busy()), (0b101, 0b1_0011, 0b110, 0b10));
        assert_eq!(shown.fin_stall_reason(), 0b1001);
        let mut control = Mmcra::written(1);
        control.set_sier_ctrl(true);
        let address = sier(&Life::new(&record, control), Msr::default(), control, false);
        // Bits 16 and 28 of SIER are 44 and 56 of the address; bit 44 is 1 << 19, bit 56 is 1 << 7.
        assert_eq!(address.bits() >> 35 & 0x1FFF, 0b1_0000_0000_0001);
        assert_eq!(address.bits() & !(0x1FFF << 35), shown.bits() & !(0x1FFF << 35));
    }
}
