//! The outcome of an instruction, as the companion reports it.

use vm_pmu_arch::feed::{
    DataSource, Fabric, FabricCommand, Fetch, FetchSource, Flush, Prediction, Record, Sample, Stages, StoreOutcome, Traits, Translation,
};

/// The outcome of the last instruction: the fields of a [`Record`](vm_pmu_arch::feed::Record) other than addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Outcome {
    /// The prediction of its control transfer.
    pub prediction: Prediction,
    /// Cycles from issue to data, of the access that took longest.
    pub latency: u32,
    /// The source of that access's data.
    pub source: DataSource,
    /// The place where the translation of its first access was found.
    pub translation: Translation,
    /// The binary logarithm of that page's size in bytes, if it missed the first level of the translation buffers; else 0. For a page that
    /// the second level holds in pieces, the nearest of 21, 24, 30 and 34.
    pub page_bits: u8,
    /// The source of the last page-table entry for it; [`DataSource::Unknown`] if none was read.
    pub walk_source: DataSource,
    /// The source of its code; of two lines, the first that missed the first level.
    pub fetch_source: FetchSource,
    /// Its fetch, if it missed the first-level instruction cache or translation buffer; of two lines, the first that missed. The latency
    /// covers translation and line together, in cycles.
    pub fetch: Option<Fetch>,
    /// Its cycles, known once it is delivered; `None` if the companion does not keep time. With a [pipeline](crate::Profile::pipeline), the
    /// cycles that dispatch took since the last delivery.
    pub cycles: Option<u32>,
    /// Whether that access is the first use of a line that the prefetcher brought in: on POWER9, a line in state Mepf.
    pub prefetched: bool,
    /// Whether the last page-table entry was read from such a line.
    pub walk_prefetched: bool,
    /// Whether it loads a line that the second level was getting for an older store of the core, if the POWER9 pipeline keeps time.
    pub behind_store: bool,
    /// Like `behind_store`, for a code fetch of another thread.
    pub behind_fetch: bool,
    /// The command that its cluster sent to the other caches and memory, for the access whose latency is reported.
    pub command: FabricCommand,
    /// The distance that the command went and the one that it had to go, on a part that predicts it: POWER9's SIER\[EXT]. 0 if nothing was sent.
    pub scope: u8,
    /// Number of times that it was repeated, each time farther.
    pub retries: u8,
    /// The outcome of its store in the second level, if the second level took the store.
    pub store_outcome: StoreOutcome,
    /// The cycles, counted from its decoding, in which it went through the stages of the pipeline. Stages after dispatch are in the future:
    /// they are known when it is dispatched. `None` unless the part is POWER9, its [pipeline](crate::Profile::pipeline) keeps time, and the
    /// demand asks for records. This also applies to the next two fields.
    pub stages: Option<Stages>,
    /// Cycles after its issue in which it was the oldest unfinished instruction.
    pub stall: u32,
    /// The reason for its stall: POWER9's SIER\[FIN_STALL_REASON].
    pub stall_reason: u8,
    /// Further traits: [`Traits::WEAKLY_PREDICTED`], and those that the pipeline finds: [`Traits::STORE_FORWARDED`],
    /// [`Traits::LOAD_MERGED`], [`Traits::AFTER_EMPTY`] and [`Traits::DECIMAL`].
    pub traits: Traits,
    /// The reason why its first attempt was flushed, if `stages` are known.
    pub flush: Flush,
    /// Whether it has made an access already.
    pub(crate) accessed: bool,
}

impl Outcome {
    /// Adds it to the instruction's record, in which the embedder has set the addresses and everything that only the embedder knows.
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

    /// Returns POWER9's code of what reloaded the data cache: that of [`source`](Outcome::source), of the state Mepf, or of a conflict with
    /// a store or a fetch.
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

    /// Whether the line came from a cache that had it in state T: a clean copy in another chip.
    #[must_use]
    pub fn tagged_intervention(&self) -> bool {
        self.command == FabricCommand::Read && self.source.is_of_another_packages_cache() && !self.source.was_modified()
    }

    /// Returns POWER9's code of the source of the last page-table entry.
    #[must_use]
    pub fn walk_code(&self) -> Option<u8> {
        code(self.walk_source, self.walk_prefetched)
    }
}

/// Returns POWER9's code of a source (table A-6 of its guide).
fn code(source: DataSource, prefetched: bool) -> Option<u8> {
    const SECOND_PREFETCHED: u8 = 0x01;
    const THIRD_PREFETCHED: u8 = 0x05;
    match source {
        DataSource::Cache(2) if prefetched => Some(SECOND_PREFETCHED),
        DataSource::Cache(3) if prefetched => Some(THIRD_PREFETCHED),
        source => source.reload_code(),
    }
}
