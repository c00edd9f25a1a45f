//! Overflow interrupts: kept until their vCPU has exited, and delivered as its local APIC says.

use kvm_bindings::{kvm_lapic_state, kvm_msi};
use vm_pmu_arch::registry::Part;

use crate::irq::{Flags, InterruptLine};

/// Interrupt requests that are pending until their vCPU has exited: an [`InterruptLine`] for the machine.
///
/// It is [`Flags`] with a kick: here, too, several requests between two polls are one interrupt. Two NMIs would be one too many.
///
/// A hypervisor takes them after each exit, before the vCPU runs on. Another vCPU's host thread may raise a request (a counter of the
/// package, a box of the untile): `kick` is called to make the target vCPU exit.
///
/// ```
/// use vm_pmu::Signal;
/// use vm_pmu::kvm::Requests;
/// use vm_pmu::topology::Builder;
///
/// let machine = Builder::new("k8").unwrap().threads(2).build(Requests::new(2, |_thread| {})).unwrap();
/// let cpu = machine.thread(1).unwrap();
/// cpu.x86().wrmsr(0xC001_0004, u64::MAX).unwrap();
/// cpu.x86().wrmsr(0xC001_0000, 0x0052_00C0).unwrap();
/// cpu.totals().add(Signal::InstructionsRetired, 1);
/// cpu.service();
/// assert!(!machine.line().take(0));
/// assert!(machine.line().take(1));
/// assert!(!machine.line().take(1), "taken once");
/// ```
#[derive(Debug)]
pub struct Requests<K> {
    flags: Flags,
    kick: K,
}

impl<K: Fn(usize)> Requests<K> {
    /// Requests for `threads` threads, counted through all packages; none is pending. `kick` is called with the number of a thread that now
    /// has one pending, on the host thread that noticed it. A machine with more threads is refused.
    #[must_use]
    pub fn new(threads: usize, kick: K) -> Requests<K> {
        Requests { flags: Flags::new(threads), kick }
    }

    /// Whether thread `thread` has requested an interrupt since the last call: then [deliver](deliver) it. `false` for a thread that does
    /// not exist.
    #[must_use = "what is taken and not delivered is lost"]
    pub fn take(&self, thread: usize) -> bool {
        self.flags.take(thread)
    }

    /// Makes a request of thread `thread` pending, as its PMU does, and kicks the thread: for requests that were pending in a saved
    /// machine.
    pub fn set(&self, thread: usize) {
        if self.flags.set(thread) {
            (self.kick)(thread);
        }
    }

    /// Whether a request of thread `thread` is pending. It stays pending.
    #[must_use]
    pub fn is_set(&self, thread: usize) -> bool {
        self.flags.is_set(thread)
    }
}

impl<K: Fn(usize)> InterruptLine for Requests<K> {
    fn raise(&self, thread: usize, _counter: u32) {
        self.set(thread);
    }

    fn threads(&self) -> Option<usize> {
        self.flags.threads()
    }
}

/// What the entry of the performance counters in a local vector table makes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// The request is lost: the entry is masked or has a vector below 16 or another delivery mode, or the APIC is disabled by software.
    Nothing,
    /// An interrupt of this vector.
    Vector(u8),
    /// A non-maskable interrupt: `KVM_NMI`.
    Nmi,
}

/// The result of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "an NMI is still to be requested, and what has changed to be put back"]
pub struct Delivered {
    /// How the interrupt comes. A vector is in the state's IRR already; an NMI is still to be requested, by `KVM_NMI`.
    pub by: Delivery,
    /// Whether the state has changed: then put it back by `KVM_SET_LAPIC`.
    pub changed: bool,
}

const SPURIOUS: usize = 0xF0;
const TRIGGER_MODE: usize = 0x180;
const REQUESTS: usize = 0x200;
/// The entry of the performance counters in the local vector table.
const ENTRY: usize = 0x340;

const ENABLED: u32 = 1 << 8;
const MASKED: u32 = 1 << 16;
const FIXED: u32 = 0b000;
const NMI: u32 = 0b100;

fn read(lapic: &kvm_lapic_state, offset: usize) -> u32 {
    lapic.regs.iter().skip(offset).take(4).rev().fold(0, |word, byte| word << 8 | u32::from(*byte as u8))
}

fn write(lapic: &mut kvm_lapic_state, offset: usize, value: u32) {
    for (to, byte) in lapic.regs.iter_mut().skip(offset).zip(value.to_le_bytes()) {
        *to = byte as _;
    }
}

/// The offset of a vector's word in a set of 256 bits, and its bit in that.
fn bit(set: usize, vector: u8) -> (usize, u32) {
    (set + usize::from(vector / 32) * 0x10, 1 << (vector % 32))
}

/// What the entry of the performance counters makes of a request at the moment. Nothing is changed.
#[must_use]
pub fn delivery(lapic: &kvm_lapic_state) -> Delivery {
    let entry = read(lapic, ENTRY);
    if read(lapic, SPURIOUS) & ENABLED == 0 || entry & MASKED != 0 {
        return Delivery::Nothing;
    }
    match (entry >> 8 & 7, entry as u8) {
        (FIXED, vector @ 16..) => Delivery::Vector(vector),
        (NMI, _) => Delivery::Nmi,
        _ => Delivery::Nothing,
    }
}

/// Delivers one request of a PMU of `part` to a vCPU that has exited and whose local APIC is `lapic`, as returned by `KVM_GET_LAPIC`. A
/// vector becomes pending. On Intel's parts the delivery also masks the entry of the table; on AMD's it does not.
///
/// An interrupt that other vCPUs or devices send between `KVM_GET_LAPIC` and `KVM_SET_LAPIC` is lost. Where that may happen, send a vector
/// by [`message`] instead, and put the state back only for the mask.
///
/// ```
/// use kvm_bindings::kvm_lapic_state;
/// use vm_pmu::Part;
/// use vm_pmu::kvm::{Delivered, Delivery, deliver};
///
/// // After a reset the APIC is disabled by software, and the entry masked.
/// let mut lapic = kvm_lapic_state::default();
/// let delivered = deliver(Part::named("k8").unwrap(), &mut lapic);
/// assert_eq!(delivered, Delivered { by: Delivery::Nothing, changed: false });
/// ```
pub fn deliver(part: Part, lapic: &mut kvm_lapic_state) -> Delivered {
    let by = delivery(lapic);
    let before = *lapic;
    if by != Delivery::Nothing && part.cpuid().is_some_and(|identity| identity.vendor == crate::cpuid::INTEL) {
        let entry = read(lapic, ENTRY);
        write(lapic, ENTRY, entry | MASKED);
    }
    if let Delivery::Vector(vector) = by {
        // Edge-triggered, as every interrupt of the local vector table except those of the pins.
        let (at, bit_of_mode) = bit(TRIGGER_MODE, vector);
        let mode = read(lapic, at);
        write(lapic, at, mode & !bit_of_mode);
        let (at, request) = bit(REQUESTS, vector);
        let requests = read(lapic, at);
        write(lapic, at, requests | request);
    }
    Delivered { by, changed: before.regs != lapic.regs }
}

/// The message that makes `vector` pending in the local APIC of this number: `KVM_SIGNAL_MSI`. No state is put back, so no interrupt that
/// comes at the same time is lost. Numbers above 255 need `KVM_X2APIC_API_USE_32BIT_IDS`.
#[must_use]
pub fn message(apic: u32, vector: u8) -> kvm_msi {
    kvm_msi { address_lo: 0xFEE0_0000 | (apic & 0xFF) << 12, address_hi: apic & !0xFF, data: u32::from(vector), ..kvm_msi::default() }
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use super::*;

    fn lapic(entry: u32) -> kvm_lapic_state {
        let mut lapic = kvm_lapic_state::default();
        write(&mut lapic, SPURIOUS, ENABLED | 0xFF);
        write(&mut lapic, ENTRY, entry);
        lapic
    }

    fn part(name: &str) -> Part {
        Part::named(name).expect("known")
    }

    #[test]
    fn a_vector_becomes_pending_and_edge_triggered() {
        let mut state = lapic(0x0E1);
        write(&mut state, 0x1F0, u32::MAX);
        write(&mut state, 0x270, 1 << 31);
        assert_eq!(deliver(part("k8"), &mut state), Delivered { by: Delivery::Vector(0xE1), changed: true });
        assert_eq!(read(&state, 0x270), 1 << 31 | 1 << 1);
        assert_eq!(read(&state, 0x1F0), !(1 << 1));
        assert_eq!(read(&state, ENTRY), 0x0E1, "an AMD part leaves its entry alone");
        assert_eq!(deliver(part("k8"), &mut state), Delivered { by: Delivery::Vector(0xE1), changed: false }, "it merges");
    }

    #[test]
    fn an_nmi_changes_nothing_on_amd_and_masks_the_entry_on_intel() {
        let mut state = lapic(0x400);
        assert_eq!(deliver(part("k8"), &mut state), Delivered { by: Delivery::Nmi, changed: false });
        assert_eq!(deliver(part("knl"), &mut state), Delivered { by: Delivery::Nmi, changed: true });
        assert_eq!(read(&state, ENTRY), 0x1_0400);
        assert_eq!(deliver(part("knl"), &mut state), Delivered { by: Delivery::Nothing, changed: false });
    }

    #[test]
    fn an_intel_part_masks_its_entry_by_a_vector_too() {
        let mut state = lapic(0x030);
        assert_eq!(deliver(part("knl"), &mut state), Delivered { by: Delivery::Vector(0x30), changed: true });
        assert_eq!((read(&state, ENTRY), read(&state, 0x210)), (0x1_0030, 1 << 16));
    }

    #[test]
    fn what_is_masked_disabled_or_illegal_is_lost() {
        let mut disabled = lapic(0x400);
        write(&mut disabled, SPURIOUS, 0xFF);
        for mut state in [lapic(0x1_0400), lapic(0x1_00E1), lapic(0x00F), lapic(0x200), lapic(0x700), disabled] {
            assert_eq!(delivery(&state), Delivery::Nothing);
            assert_eq!(deliver(part("knl"), &mut state), Delivered { by: Delivery::Nothing, changed: false });
        }
    }

    #[test]
    fn a_message_names_the_apic_and_the_vector() {
        let near = message(3, 0xE1);
        assert_eq!((near.address_lo, near.address_hi, near.data, near.flags), (0xFEE0_3000, 0, 0xE1, 0));
        let far = message(0x102, 0x40);
        assert_eq!((far.address_lo, far.address_hi, far.data), (0xFEE0_2000, 0x100, 0x40));
    }

    #[test]
    fn requests_wait_for_their_thread_and_kick_it() {
        let kicked = Cell::new(None);
        let requests = Requests::new(2, |thread| kicked.set(Some(thread)));
        requests.raise(1, 0);
        assert_eq!(kicked.get(), Some(1));
        assert_eq!([0, 1].map(|thread| requests.is_set(thread)), [false, true]);
        assert_eq!([0, 1].map(|thread| requests.take(thread)), [false, true]);
    }

    #[test]
    fn requests_between_two_looks_are_one_interrupt() {
        let requests = Requests::new(1, |_thread| {});
        requests.raise(0, 0);
        requests.raise(0, 3);
        assert_eq!([requests.take(0), requests.take(0)], [true, false]);
    }

    #[test]
    fn a_thread_that_there_is_not_loses_its_requests_and_is_not_kicked() {
        let requests = Requests::new(2, |thread| panic!("thread {thread} is kicked"));
        requests.raise(2, 0);
        assert_eq!((requests.is_set(2), requests.take(2)), (false, false));
    }

    #[test]
    fn a_request_of_a_saved_machine_kicks_its_thread() {
        let kicked = Cell::new(None);
        let requests = Requests::new(2, |thread| kicked.set(Some(thread)));
        requests.set(1);
        assert_eq!((kicked.get(), requests.take(1)), (Some(1), true));
    }
}
