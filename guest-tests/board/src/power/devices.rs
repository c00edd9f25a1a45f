//! What a machine's device does with memory: its host bridge, caches and memory learn of it.

use vm_pmu::companion::{Companion, DeviceOperation, DeviceRequest};
use vm_pmu::memory::HostBridge;
use vm_pmu::topology::Machine;
use vm_pmu_engines::power::{DeviceActivity, DmaAccess, DmaKind};

use super::Firmware;
use crate::Lines;

/// The device of a machine. It is behind host bridge 0 of the first chip.
#[derive(Clone, Copy, Debug)]
pub struct Devices<'a> {
    cores: &'a Machine<Lines>,
    companion: Option<&'a Companion>,
    firmware: Option<&'a Firmware<'a>>,
    bridge: HostBridge,
}

impl<'a> Devices<'a> {
    /// That of `cores`, whose caches and memory are `companion`'s and whose chips have `firmware`. `None` if neither is there.
    #[must_use]
    pub fn new(cores: &'a Machine<Lines>, companion: Option<&'a Companion>, firmware: Option<&'a Firmware<'a>>) -> Option<Devices<'a>> {
        let bridge = HostBridge::new(0)?;
        (companion.is_some() || firmware.is_some()).then_some(Devices { cores, companion, firmware, bridge })
    }

    /// The device did something.
    pub(super) fn report(&self, activity: &DeviceActivity) {
        self.pass_bridge(activity);
        if let DeviceActivity::Access(access) = activity {
            self.reach_memory(access);
        }
    }

    /// The bridge counts requests: a transfer is reported between multiples of 4 KiB, which no request crosses. Table 6-9 has no event of
    /// atomic operations.
    fn pass_bridge(&self, activity: &DeviceActivity) {
        let Some(chip) = self.firmware.and_then(|firmware| firmware.platform().chips().first()) else { return };
        match *activity {
            DeviceActivity::Answer => self.bridge.load_answered(chip, 1),
            DeviceActivity::Access(DmaAccess { kind, physical, bytes }) => match kind {
                DmaKind::Read => _ = self.bridge.dma_read(chip, physical, bytes),
                DmaKind::Write | DmaKind::Inject => _ = self.bridge.dma_write(chip, physical, bytes),
                DmaKind::Atomic => {}
            },
        }
    }

    /// Caches and memory take it line by line.
    fn reach_memory(&self, access: &DmaAccess) {
        let DmaAccess { kind, physical, bytes } = *access;
        let Some(companion) = self.companion else { return };
        let (Some(devices), Some(demand)) = (self.cores.devices(0), self.cores.device_demand(0)) else { return };
        let operation = match kind {
            DmaKind::Read => DeviceOperation::Read,
            DmaKind::Write => DeviceOperation::Write,
            DmaKind::Atomic => DeviceOperation::Atomic,
            DmaKind::Inject => DeviceOperation::Inject,
        };
        companion.device(&DeviceRequest { package: 0, physical, size: bytes, operation }, &devices.totals, &demand);
    }
}
