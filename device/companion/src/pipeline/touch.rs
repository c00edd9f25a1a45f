//! Results of an instruction's accesses.

use crate::bus_traffic::BusTraffic;
use crate::bytes::{Damaged, Reader, Writer};
use crate::caches::Level;
use crate::instruction::{Access, AccessKind};
use crate::pipeline::resources::saving::{number, pick, small};
use vm_pmu_arch::feed::DataSource;

/// The source of a line that the first level does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Source {
    /// The second level.
    #[default]
    Second,
    /// The third level.
    Third,
    /// The caches of another core.
    OtherCore,
    /// Memory, or a device.
    Memory,
    /// Another package.
    Remote,
}

impl Source {
    pub(super) const ALL: [Source; 5] = [Source::Second, Source::Third, Source::OtherCore, Source::Memory, Source::Remote];

    /// Returns whether no cache of the core has the line.
    pub(super) fn is_beyond(self) -> bool {
        !matches!(self, Source::Second | Source::Third)
    }

    /// Returns the source of a line that was found at this level, or beyond the caches of the core.
    pub(crate) fn of(level: Option<Level>, source: DataSource) -> Source {
        match (level, source) {
            (Some(Level::Third), _) => Source::Third,
            (Some(_), _) => Source::Second,
            (None, source) if source.is_of_another_core() => Source::OtherCore,
            (None, source) if source.is_of_another_package() => Source::Remote,
            (None, _) => Source::Memory,
        }
    }
}

/// The result of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Touch {
    pub(super) address: u64,
    /// The number of its line.
    pub(super) line: u64,
    pub(super) size: u8,
    pub(super) kind: AccessKind,
    pub(super) locked: bool,
    pub(super) uncached: bool,
    /// Whether it crosses the width of a cache access.
    pub(super) misaligned: bool,
    /// Whether the first level had no line to serve it from.
    pub(super) missed: bool,
    /// Whether page tables were walked.
    pub(super) walked: bool,
    /// Cycles of its translation beyond one from the first TLB.
    pub(super) translation: u32,
    /// Cycles from issue to data, if it missed.
    pub(super) latency: u32,
    /// The source of the data, if it missed.
    pub(super) source: Source,
    /// Bus traffic for it.
    pub(super) carried: BusTraffic,
}

/// The accesses of an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) enum Touches<'a> {
    /// Their results.
    Found(&'a [Touch]),
    /// One access that hits the first level, and the number of its line.
    Hit(&'a Access, u64),
}

impl Touches<'_> {
    pub(super) fn count(&self) -> usize {
        match self {
            Touches::Found(touches) => touches.len(),
            Touches::Hit(..) => 1,
        }
    }

    /// Passes on the access, if there is one at most. Otherwise returns false.
    #[inline]
    pub(super) fn one_at_most(self, execute: impl FnOnce(Option<&Touch>) -> bool) -> bool {
        match self {
            Touches::Found([_, _, ..]) => false,
            Touches::Found(touches) => execute(touches.first()),
            Touches::Hit(access, line) => execute(Some(&Touch::new(access, line))),
        }
    }

    /// Returns whether any of them loads.
    #[inline]
    pub(super) fn loads(&self) -> bool {
        match self {
            Touches::Found(touches) => touches.iter().any(Touch::loads),
            Touches::Hit(access, _) => access.kind.loads(),
        }
    }

    /// Returns those behind the first `number`.
    pub(super) fn behind(self, number: usize) -> Self {
        match self {
            Touches::Found(touches) => Touches::Found(touches.get(number..).unwrap_or(&[])),
            Touches::Hit(..) if number != 0 => Touches::Found(&[]),
            hit => hit,
        }
    }
}

impl Touch {
    pub(super) const NONE: Touch = Touch {
        address: 0,
        line: 0,
        size: 0,
        kind: AccessKind::Load,
        locked: false,
        uncached: false,
        misaligned: false,
        missed: false,
        walked: false,
        translation: 0,
        latency: 0,
        source: Source::Second,
        carried: BusTraffic::NONE,
    };

    #[inline]
    pub(super) fn new(access: &Access, line: u64) -> Touch {
        let size = access.size.max(1);
        let bytes = (access.address & 7) + u64::from(size);
        Touch {
            address: access.address,
            line,
            size,
            kind: access.kind,
            locked: access.locked,
            uncached: access.uncached,
            misaligned: bytes > 8 && bytes.div_ceil(8) > u64::from(size).div_ceil(8),
            ..Touch::default()
        }
    }

    /// Copies the fields of an access that hits. They are copied one by one, since a wide read of bytes that were just written by narrower
    /// stores stalls the host.
    #[inline(always)]
    pub(super) fn of_hit(&self) -> Touch {
        let Touch { address, line, size, kind, misaligned, .. } = *self;
        Touch { address, line, size, kind, misaligned, ..Touch::NONE }
    }

    #[inline]
    pub(super) fn stores(&self) -> bool {
        matches!(self.kind, AccessKind::Store | AccessKind::StreamingStore | AccessKind::RegisterStackStore)
    }

    #[inline]
    pub(super) fn loads(&self) -> bool {
        self.kind.loads()
    }

    /// Returns whether it reaches into a second line of 64 bytes.
    pub(super) fn splits(&self) -> bool {
        self.address % 64 + u64::from(self.size) > 64
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        let flags = [self.locked, self.uncached, self.misaligned, self.missed, self.walked];
        let flags = flags.iter().rev().fold(0, |flags, flag| flags << 1 | u64::from(*flag));
        writer.words(&[self.address, self.line, u64::from(self.size), number(&AccessKind::ALL, &self.kind), flags]);
        writer.words(&[u64::from(self.translation), u64::from(self.latency), number(&Source::ALL, &self.source)]);
        self.carried.save(writer);
    }

    pub(super) fn load(reader: &mut Reader<'_>) -> Result<Touch, Damaged> {
        let (address, line, size, kind) = (reader.word()?, reader.word()?, small(reader, 255)?, pick(&AccessKind::ALL, reader)?);
        let flags = reader.word()?;
        let flag = |bit: u32| flags >> bit & 1 == 1;
        let translation = u32::try_from(reader.word()?).map_err(|_| Damaged)?;
        let latency = u32::try_from(reader.word()?).map_err(|_| Damaged)?;
        Ok(Touch {
            address,
            line,
            size,
            kind,
            locked: flag(0),
            uncached: flag(1),
            misaligned: flag(2),
            missed: flag(3),
            walked: flag(4),
            translation,
            latency,
            source: pick(&Source::ALL, reader)?,
            carried: BusTraffic::load(reader)?,
        })
    }
}
