//! The local APIC in xAPIC mode.

use super::saved::ApicState;
use super::timer::Timer;

/// Offset of the performance-counter LVT entry.
pub const LVT_PERFORMANCE_COUNTER: u32 = 0x340;

const LVT_MASKED: u32 = 1 << 16;
const LVT_WRITABLE: u32 = 0x0001_07ff;
/// Polarity and trigger mode exist on the pins only.
const LVT_PIN: u32 = LVT_WRITABLE | 1 << 13 | 1 << 15;
const TIMER_PERIODIC: u32 = 1 << 17;
const SVR_ENABLE: u32 = 1 << 8;
const ESR_SEND_ILLEGAL: u32 = 1 << 5;
const ESR_RECEIVE_ILLEGAL: u32 = 1 << 6;
const ESR_ILLEGAL_REGISTER: u32 = 1 << 7;

/// Indices into the LVT, in the order of their offsets from 320h.
const TIMER: usize = 0;
const PERFORMANCE: usize = 2;
const ERROR: usize = 5;

/// What the performance-counter LVT entry does to its own mask bit when it delivers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PerformanceMask {
    /// Nothing, as on AMD processors.
    #[default]
    Keep,
    /// Sets it, as on Intel processors.
    Set,
}

/// What became of a local interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Masked, or the APIC is disabled, or the delivery mode is not fixed or NMI: dropped.
    Dropped,
    /// Accepted into the IRR (or refused for an illegal vector, with an ESR bit).
    Fixed,
    /// An NMI is to be latched by the CPU.
    Nmi,
}

/// Destinations of an interprocessor interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    Physical(u8),
    Logical(u8),
    Own,
    All,
    Others,
}

/// An interprocessor interrupt about to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ipi {
    pub(crate) vector: u8,
    pub(crate) nmi: bool,
    pub(crate) lowest_priority: bool,
    pub(crate) to: Destination,
}

/// The local APIC of one CPU: xAPIC registers, priorities, local vector table and timer.
///
/// INIT, start-up, SMI and ExtINT deliveries are ignored: every CPU runs from the start.
#[derive(Clone, Debug)]
pub struct Apic {
    id: u8,
    tpr: u8,
    ldr: u32,
    dfr: u32,
    svr: u32,
    isr: [u64; 4],
    irr: [u64; 4],
    esr: u32,
    esr_pending: u32,
    icr_low: u32,
    icr_high: u32,
    lvt: [u32; 6],
    performance_mask: PerformanceMask,
    enabled: bool,
    pub(super) timer: Timer,
    deliverable: bool,
}

fn highest(set: &[u64; 4]) -> Option<u8> {
    (0..4).rev().find(|&i| set[i] != 0).map(|i| (i as u8) * 64 + 63 - set[i].leading_zeros() as u8)
}

fn bit(vector: u8) -> (usize, u64) {
    (usize::from(vector >> 6), 1 << (vector & 63))
}

impl Apic {
    /// A local APIC after reset: software-disabled, every LVT entry masked.
    #[must_use]
    pub fn new(id: u8, performance_mask: PerformanceMask) -> Self {
        Self {
            id,
            tpr: 0,
            ldr: 0,
            dfr: u32::MAX,
            svr: 0xff,
            isr: [0; 4],
            irr: [0; 4],
            esr: 0,
            esr_pending: 0,
            icr_low: 0,
            icr_high: 0,
            lvt: [LVT_MASKED; 6],
            performance_mask,
            enabled: true,
            timer: Timer::new(),
            deliverable: false,
        }
    }

    pub(crate) fn state(&self) -> ApicState {
        ApicState {
            tpr: self.tpr,
            ldr: self.ldr,
            dfr: self.dfr,
            svr: self.svr,
            isr: self.isr,
            irr: self.irr,
            esr: self.esr,
            esr_pending: self.esr_pending,
            icr_low: self.icr_low,
            icr_high: self.icr_high,
            lvt: self.lvt,
            timer: self.timer.state(),
        }
    }

    /// Takes over the registers of `state`; the ID and what the performance counters' entry does to itself are those of the machine.
    pub(crate) fn restore(&mut self, state: &ApicState, enabled: bool) {
        *self = Self {
            id: self.id,
            tpr: state.tpr,
            ldr: state.ldr,
            dfr: state.dfr,
            svr: state.svr,
            isr: state.isr,
            irr: state.irr,
            esr: state.esr,
            esr_pending: state.esr_pending,
            icr_low: state.icr_low,
            icr_high: state.icr_high,
            lvt: state.lvt,
            performance_mask: self.performance_mask,
            enabled,
            timer: Timer::of(&state.timer),
            deliverable: false,
        };
        self.update();
    }

    /// The bits of each local vector table entry that exist.
    pub(crate) const LVT_BITS: [u32; 6] =
        [LVT_MASKED | TIMER_PERIODIC | 0xff, LVT_WRITABLE, LVT_WRITABLE, LVT_PIN, LVT_PIN, LVT_MASKED | 0xff];

    /// The APIC ID.
    #[must_use]
    pub fn id(&self) -> u8 {
        self.id
    }

    /// The LVT performance-counter entry.
    #[must_use]
    pub fn lvt_performance_counter(&self) -> u32 {
        self.lvt[PERFORMANCE]
    }

    /// Whether `vector` waits in the IRR.
    #[must_use]
    pub fn requested(&self, vector: u8) -> bool {
        let (i, b) = bit(vector);
        self.irr[i] & b != 0
    }

    /// Whether `vector` is in service.
    #[must_use]
    pub fn in_service(&self, vector: u8) -> bool {
        let (i, b) = bit(vector);
        self.isr[i] & b != 0
    }

    /// The processor priority.
    #[must_use]
    pub fn ppr(&self) -> u8 {
        let service = highest(&self.isr).unwrap_or(0);
        if self.tpr >> 4 >= service >> 4 { self.tpr } else { service & 0xf0 }
    }

    /// Whether the IRR holds an interrupt above the processor priority.
    #[inline]
    #[must_use]
    pub fn interrupt_pending(&self) -> bool {
        self.deliverable
    }

    pub(crate) fn cr8(&self) -> u64 {
        u64::from(self.tpr >> 4)
    }

    pub(crate) fn set_cr8(&mut self, value: u64) {
        self.tpr = (value as u8 & 0xf) << 4;
        self.update();
    }

    pub(crate) fn set_enabled(&mut self, enabled: bool) {
        self.enabled = enabled;
    }

    fn software_enabled(&self) -> bool {
        self.enabled && self.svr & SVR_ENABLE != 0
    }

    fn update(&mut self) {
        self.deliverable = highest(&self.irr).is_some_and(|v| v >> 4 > self.ppr() >> 4);
    }

    /// Takes the interrupt to deliver into service.
    pub(crate) fn acknowledge(&mut self) -> Option<u8> {
        let vector = self.deliverable.then(|| highest(&self.irr)).flatten()?;
        let (i, b) = bit(vector);
        self.irr[i] &= !b;
        self.isr[i] |= b;
        self.update();
        Some(vector)
    }

    fn end_of_interrupt(&mut self) {
        if let Some(vector) = highest(&self.isr) {
            let (i, b) = bit(vector);
            self.isr[i] &= !b;
        }
        self.update();
    }

    /// Receives a fixed interrupt. A software-disabled APIC refuses it.
    pub(crate) fn accept(&mut self, vector: u8) {
        if !self.software_enabled() {
            return;
        }
        if vector < 16 {
            self.error(ESR_RECEIVE_ILLEGAL);
            return;
        }
        let (i, b) = bit(vector);
        self.irr[i] |= b;
        self.update();
    }

    fn error(&mut self, bits: u32) {
        self.esr_pending |= bits;
        let entry = self.lvt[ERROR];
        let vector = entry as u8;
        // An illegal vector here must not report itself without end.
        if entry & LVT_MASKED == 0 && vector >= 16 {
            self.accept(vector);
        }
    }

    fn local(&mut self, index: usize) -> Delivery {
        let entry = self.lvt[index];
        if entry & LVT_MASKED != 0 || !self.enabled {
            return Delivery::Dropped;
        }
        match (entry >> 8) & 7 {
            0 => {
                self.accept(entry as u8);
                Delivery::Fixed
            }
            4 => Delivery::Nmi,
            _ => Delivery::Dropped,
        }
    }

    /// Delivers the performance-counter interrupt as its LVT entry specifies.
    pub fn performance_interrupt(&mut self) -> Delivery {
        let delivery = self.local(PERFORMANCE);
        if delivery != Delivery::Dropped && self.performance_mask == PerformanceMask::Set {
            self.lvt[PERFORMANCE] |= LVT_MASKED;
        }
        delivery
    }

    /// Expires the timer if `now`, in cycles, is past its deadline.
    pub(crate) fn tick(&mut self, now: u64) {
        if self.timer.expire(now, self.lvt[TIMER] & TIMER_PERIODIC != 0) {
            self.local(TIMER);
        }
    }

    /// The cycle at which the timer expires next; the last of all if it is stopped.
    #[cfg(all(feature = "kvm", target_os = "linux", target_arch = "x86_64"))]
    pub(crate) fn due(&self) -> u64 {
        self.timer.deadline
    }

    /// The cycle at which the timer will raise an interrupt that a CPU with IF set would take.
    pub(crate) fn timer_wake(&self) -> Option<u64> {
        let entry = self.lvt[TIMER];
        let vector = entry as u8;
        let takes =
            entry & LVT_MASKED == 0 && (entry >> 8) & 7 == 0 && self.software_enabled() && vector >= 16 && vector >> 4 > self.ppr() >> 4;
        (takes && self.timer.deadline != u64::MAX).then_some(self.timer.deadline)
    }

    fn word(set: &[u64; 4], offset: u32) -> u32 {
        let index = (offset >> 4 & 7) as usize;
        (set[index / 2] >> (32 * (index % 2))) as u32
    }

    /// Reads the 32-bit register at `offset`, at cycle `now`.
    #[must_use]
    pub fn read(&self, offset: u32, now: u64) -> u32 {
        match offset {
            0x20 => u32::from(self.id) << 24,
            // Version 14h, six LVT entries.
            0x30 => 0x0005_0014,
            0x80 => u32::from(self.tpr),
            0xa0 => u32::from(self.ppr()),
            0xd0 => self.ldr,
            0xe0 => self.dfr,
            0xf0 => self.svr,
            0x100..=0x170 => Self::word(&self.isr, offset),
            // Only edge-triggered interrupts exist here, so the TMR stays clear.
            0x180..=0x1f0 => 0,
            0x200..=0x270 => Self::word(&self.irr, offset),
            0x280 => self.esr,
            0x300 => self.icr_low,
            0x310 => self.icr_high,
            0x320..=0x370 => self.lvt[((offset - 0x320) >> 4) as usize],
            0x380 => self.timer.initial,
            0x390 => self.timer.current(now),
            0x3e0 => self.timer.divide,
            _ => 0,
        }
    }

    /// Writes the 32-bit register at `offset`, at cycle `now`. A write to the ICR's low half
    /// returns what to send.
    pub(crate) fn write(&mut self, offset: u32, value: u32, now: u64) -> Option<Ipi> {
        match offset {
            0x80 => {
                self.tpr = value as u8;
                self.update();
            }
            0xb0 => self.end_of_interrupt(),
            0xd0 => self.ldr = value & 0xff00_0000,
            0xe0 => self.dfr = value | 0x0fff_ffff,
            0xf0 => {
                self.svr = value & 0x3ff;
                if value & SVR_ENABLE == 0 {
                    self.lvt.iter_mut().for_each(|entry| *entry |= LVT_MASKED);
                }
            }
            0x280 => self.esr = std::mem::take(&mut self.esr_pending),
            0x300 => {
                self.icr_low = value & 0x000c_cfff;
                return self.interprocessor(value);
            }
            0x310 => self.icr_high = value & 0xff00_0000,
            0x320..=0x370 if offset & 0xf == 0 => {
                self.write_lvt(((offset - 0x320) >> 4) as usize, value);
            }
            0x380 => self.timer.start(value, now),
            0x3e0 => self.timer.set_divide(value & 0xb, now),
            0x20 | 0x30 | 0x90..=0xa0 | 0xc0 | 0x100..=0x270 | 0x390 => {}
            _ => self.error(ESR_ILLEGAL_REGISTER),
        }
        None
    }

    fn write_lvt(&mut self, index: usize, value: u32) {
        let mut entry = value & Self::LVT_BITS[index];
        if self.svr & SVR_ENABLE == 0 {
            entry |= LVT_MASKED;
        }
        self.lvt[index] = entry;
    }

    fn interprocessor(&mut self, low: u32) -> Option<Ipi> {
        let vector = low as u8;
        let mode = (low >> 8) & 7;
        if !self.enabled || !matches!(mode, 0 | 1 | 4) {
            return None;
        }
        if mode != 4 && vector < 16 {
            self.error(ESR_SEND_ILLEGAL);
            return None;
        }
        let address = (self.icr_high >> 24) as u8;
        let to = match (low >> 18) & 3 {
            1 => Destination::Own,
            2 => Destination::All,
            3 => Destination::Others,
            _ if low & 1 << 11 != 0 => Destination::Logical(address),
            _ => Destination::Physical(address),
        };
        Some(Ipi { vector, nmi: mode == 4, lowest_priority: mode == 1, to })
    }

    /// The logical destination register and the destination format register.
    pub(crate) fn logical(&self) -> (u32, u32) {
        (self.ldr, self.dfr)
    }
}
