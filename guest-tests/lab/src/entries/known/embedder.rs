//! The embedders whose supply this project declares.

use clap::ValueEnum;
use vm_pmu::arch::event::{Drive, Entry, Internal, Test};
use vm_pmu::arch::feed::Traits;
use vm_pmu::companion::Clock;
use vm_pmu::{Part, Signal, SignalSet};

use super::engine_supplies;

/// The targets of QEMU name in their sources what QEMU's translator counts.
const QEMU_X86: &str = include_str!("../../../../../device/qemu/source/target/i386/tcg/system/pmu.c");
const QEMU_POWER: &str = include_str!("../../../../../device/qemu/source/target/ppc/pmu.c");

/// An emulator to which a PMU and its companion are attached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Embedder {
    /// The laboratory's engines, Unicorn among them, with the companion, which keeps the time
    #[default]
    Lab,
    /// The same without a companion
    Engine,
    /// QEMU with the kit
    Qemu,
    /// QEMU with the kit and -global tcg-pmu.pmu-time=companion
    QemuTime,
}

impl Embedder {
    /// Every embedder.
    pub const ALL: [Embedder; 4] = [Embedder::Lab, Embedder::Engine, Embedder::Qemu, Embedder::QemuTime];

    /// Whether it has a PMU of this part at all.
    #[must_use]
    pub fn has(self, part: Part) -> bool {
        self.supplies(part).contains(Signal::Cycles)
    }

    /// The name of what executes its guests.
    pub(super) const fn name(self) -> &'static str {
        if self.is_qemu() { "QEMU" } else { "engine" }
    }

    /// Whose clock the companion goes by, if there is one.
    pub(super) const fn clock(self) -> Option<Clock> {
        match self {
            Embedder::Lab | Embedder::QemuTime => Some(Clock::Companion),
            Embedder::Qemu => Some(Clock::Embedder),
            Embedder::Engine => None,
        }
    }

    /// The signals that it supplies itself.
    pub(super) fn supplies(self, part: Part) -> SignalSet {
        match (self, part) {
            (Embedder::Lab | Embedder::Engine, _) => Signal::all().filter(|signal| engine_supplies(part, *signal)).collect(),
            (_, Part::K8(_) | Part::Knl(_)) => declared(QEMU_X86),
            (_, Part::Power9(_)) => declared(QEMU_POWER),
            (_, Part::Itanium(_) | Part::Montecito(_)) => SignalSet::EMPTY,
        }
    }

    const fn is_qemu(self) -> bool {
        matches!(self, Embedder::Qemu | Embedder::QemuTime)
    }

    /// Whether its devices are reported.
    pub(super) fn has_devices(self, part: Part) -> bool {
        !(self.is_qemu() && matches!(part, Part::Power9(_)))
    }

    /// Whether it reports at all what drives `entry`, besides signals.
    pub(super) fn feeds(self, entry: &Entry) -> bool {
        let is_clock = matches!(entry.drive, Drive::Internal(Internal::Clock));
        match (self, entry.drive) {
            (Embedder::Lab, _) => true,
            // Only the companion reports these.
            (Embedder::Engine, Drive::Internal(Internal::Request | Internal::Device | Internal::Nested(_))) => false,
            (Embedder::Engine, _) => true,
            // QEMU reports no steps of nested walks, of instructions only what the companion knows, and to nests nothing but time. Cores and
            // threads post what their signals count.
            (_, Drive::Internal(Internal::Nested(_))) => false,
            (_, Drive::Sampled { tests, .. }) => tests.iter().all(|test| !matches!(test, Test::Is(traits) if !made(*traits))),
            _ => entry.offset.is_none() || is_clock || matches!(entry.unit, "core-imc" | "thread-imc"),
        }
    }
}

/// Whether the companion finds these traits of an instruction.
const fn made(traits: Traits) -> bool {
    Traits::WEAKLY_PREDICTED.union(Traits::STORE_FORWARDED).contains(traits)
}

/// The signals that a source in C names.
fn declared(source: &str) -> SignalSet {
    const MARK: &str = "VM_PMU_SIGNAL_";
    let name = |text: &str| {
        text.split(|character: char| !character.is_ascii_alphanumeric() && character != '_').next().map(str::to_ascii_lowercase)
    };
    let names: Vec<String> = source.split(MARK).skip(1).filter_map(name).collect();
    Signal::all().filter(|signal| names.iter().any(|name| name == signal.name())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_signal_that_qemu_names_is_known() {
        for source in [QEMU_X86, QEMU_POWER] {
            let mut names: Vec<&str> =
                source.split("VM_PMU_SIGNAL_").skip(1).map(|text| text.split_once([',', ' ', ';', '\n', ')']).unwrap().0).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(declared(source).iter().count(), names.len(), "{names:?}");
        }
    }
}
