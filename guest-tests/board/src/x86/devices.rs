//! What a machine's devices do with memory: caches, memory and boxes learn of it.

use std::sync::Arc;

use vm_pmu::companion::{Companion, DeviceOperation, DeviceRequest};
use vm_pmu::topology::Machine;
use vm_pmu::untile::DeviceAccess;
use vm_pmu_engines::x86::{DmaAccess, DmaKind};

use crate::Lines;

/// Bytes of a line of Knights Landing.
const LINE: u64 = 64;

/// The devices of a machine with a companion. They belong to package 0.
#[derive(Clone, Debug)]
pub struct Devices {
    machine: Arc<Machine<Lines>>,
    companion: Arc<Companion>,
}

impl Devices {
    /// Those of `machine`, whose caches and memory are `companion`'s.
    #[must_use]
    pub fn new(machine: Arc<Machine<Lines>>, companion: Arc<Companion>) -> Devices {
        Devices { machine, companion }
    }

    /// A device accesses bytes of one line of 64 bytes.
    pub fn access(&self, access: &DmaAccess) {
        let DmaAccess { kind, physical, bytes } = *access;
        let (Some(devices), Some(demand)) = (self.machine.devices(0), self.machine.device_demand(0)) else { return };
        let operation = match kind {
            DmaKind::Read => DeviceOperation::Read,
            DmaKind::Write => DeviceOperation::Write,
            DmaKind::Atomic => DeviceOperation::Atomic,
            DmaKind::Inject => DeviceOperation::Inject,
        };
        let request = DeviceRequest { package: 0, physical, size: bytes, operation };
        let modified = self.companion.device(&request, &devices.totals, &demand) != 0;
        if demand.signals().iter().any(|signal| devices.deadlines.reached(signal, &devices.totals)) {
            self.machine.service_devices(0);
        }
        if let Some(untile) = self.machine.untile() {
            let access = match kind {
                DmaKind::Read => DeviceAccess::Read,
                DmaKind::Write | DmaKind::Inject if bytes == LINE => DeviceAccess::Write,
                DmaKind::Write | DmaKind::Inject => DeviceAccess::PartialWrite,
                DmaKind::Atomic => DeviceAccess::Atomic,
            };
            untile.device_at(access, physical, u8::try_from(self.companion.home(physical)).unwrap_or(0), modified);
        }
    }
}
