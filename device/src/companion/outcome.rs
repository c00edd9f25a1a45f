//! What the companion tells of an instruction.

use vm_pmu_arch::feed::{
    DataSource, Fabric, FabricCommand, Fetch, FetchSource, Flush, Prediction, Record, Sample, Stages, StoreOutcome, Traits, Translation,
};

/// The outcome of the last instruction: the fields of a [`Record`](crate::Record) other than addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Outcome {
    /// How its transfer was predicted.
    pub prediction: Prediction,
    /// From issue to data, in cycles: the longest of its accesses.
    pub latency: u32,
    /// Where the data of that access came from.
    pub source: DataSource,
    /// What the translation of its first access cost.
    pub translation: Translation,
    /// The binary logarithm of the size of that page in bytes, if the first level of the translation buffers did not have it; else 0. Of a
    /// page that the second level holds in pieces it is 21, 24, 30 or 34, whichever is nearest.
    pub page_bits: u8,
    /// Where the last page-table entry for it was read; [`DataSource::Unknown`] if none was.
    pub walk_source: DataSource,
    /// Where its code came from; of two lines the first that the first level did not have.
    pub fetch_source: FetchSource,
    /// Its fetch, if it missed the first-level instruction cache or translation buffer; of two lines the first that did. The latency is
    /// that of translation and line together, in cycles.
    pub fetch: Option<Fetch>,
    /// Its cycles, known from its delivery on; `None` if the companion does not keep time. With a
    /// [pipeline](super::Profile::pipeline) those that dispatch took since the last delivery.
    pub cycles: Option<u32>,
    /// Whether the line of that access had been brought by the prefetcher, and this is its first use: on POWER9 it had the state Mepf.
    pub prefetched: bool,
    /// The same of the line that the last page-table entry was read from.
    pub walk_prefetched: bool,
    /// Whether it is a load of a line that the second level was getting for an older store of the core, if the pipeline of POWER9 keeps time.
    pub behind_store: bool,
    /// The same for a fetch of code, by another thread.
    pub behind_fetch: bool,
    /// What its cluster asked the other caches and memory for, for the access whose latency is told.
    pub command: FabricCommand,
    /// How far that went, and how far it had to go, where the part predicts it: POWER9's SIER\[EXT], 0 if it was not asked of others.
    pub scope: u8,
    /// How often it was repeated, each time farther.
    pub retries: u8,
    /// What became of its store in the second level, if that took it.
    pub store_outcome: StoreOutcome,
    /// When it went through the stages of the pipeline, in cycles from its decoding on. Stages after its dispatch lie ahead: they are known
    /// when it is dispatched. `None` unless the part is POWER9, its [pipeline](super::Profile::pipeline) keeps time, and the demand asks for
    /// records. So it is with the two fields that follow.
    pub stages: Option<Stages>,
    /// Cycles after its issue in which it was the oldest that had not finished.
    pub stall: u32,
    /// The reason of its stall: POWER9's SIER\[FIN_STALL_REASON].
    pub stall_reason: u8,
    /// Further properties: [`Traits::WEAKLY_PREDICTED`], and those that the pipeline finds, [`Traits::STORE_FORWARDED`],
    /// [`Traits::LOAD_MERGED`], [`Traits::AFTER_EMPTY`] and [`Traits::DECIMAL`].
    pub traits: Traits,
    /// Why its first attempt was flushed, with `stages`.
    pub flush: Flush,
    /// Whether it has made an access already.
    pub(super) accessed: bool,
}

impl Outcome {
    /// Adds it to the instruction's record, in which the embedder has set addresses, and what only the embedder knows.
    pub fn refine(&self, record: &mut Record) {
        record.cycles = self.cycles.unwrap_or(record.cycles);
        record.fetch = self.fetch;
        if let Some(branch) = &mut record.branch {
            branch.prediction = self.prediction;
        }
        if let Some(memory) = &mut record.memory {
            (memory.latency, memory.source, memory.translation) = (self.latency, self.source, self.translation);
        }
        let sample = record.sample;
        record.sample = Sample {
            traits: sample.traits | self.traits,
            fetch_source: self.fetch_source,
            reload_source: self.reload_code().filter(|_| record.memory.is_some()),
            walk_source: self.walk_code(),
            store_outcome: self.store_outcome,
            page_bits: self.page_bits,
            fabric: Fabric {
                command: self.command,
                scope: self.scope,
                retries: self.retries,
                tagged_intervention: self.tagged_intervention(),
                ..sample.fabric
            },
            stages: self.stages,
            stall: self.stall,
            stall_reason: self.stall_reason,
            flush: self.flush,
            ..sample
        };
    }

    /// POWER9's code of what reloaded the data cache: that of [`source`](Outcome::source), of the state Mepf, or of a conflict with a store or a fetch.
    #[must_use]
    pub fn reload_code(&self) -> Option<u8> {
        const SECOND_BEHIND_STORE: u8 = 0x02;
        const SECOND_BEHIND_OTHER: u8 = 0x03;
        if self.behind_store && self.source == DataSource::Cache(2) {
            return Some(SECOND_BEHIND_STORE);
        }
        if self.behind_fetch && self.source == DataSource::Cache(2) {
            return Some(SECOND_BEHIND_OTHER);
        }
        code(self.source, self.prefetched)
    }

    /// Whether a cache that had the line in state T gave it: one of another chip, which had it clean.
    #[must_use]
    pub fn tagged_intervention(&self) -> bool {
        self.command == FabricCommand::Read && self.source.is_of_another_packages_cache() && !self.source.was_modified()
    }

    /// The same code of the line that the last page-table entry was read from.
    #[must_use]
    pub fn walk_code(&self) -> Option<u8> {
        code(self.walk_source, self.walk_prefetched)
    }
}

/// POWER9's code of a source (table A-6 of its guide).
fn code(source: DataSource, prefetched: bool) -> Option<u8> {
    const SECOND_PREFETCHED: u8 = 0x01;
    const THIRD_PREFETCHED: u8 = 0x05;
    match source {
        DataSource::Cache(2) if prefetched => Some(SECOND_PREFETCHED),
        DataSource::Cache(3) if prefetched => Some(THIRD_PREFETCHED),
        source => source.reload_code(),
    }
}
