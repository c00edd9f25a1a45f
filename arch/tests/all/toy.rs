//! The smallest PMU: one counter, in one file. `docs/src/adding-a-part.md` explains it.

use vm_pmu_arch::access::{Address, Fault};
use vm_pmu_arch::alert::Alerts;
use vm_pmu_arch::counter::{Counter, Gate, Tap, Width};
use vm_pmu_arch::event::Catalogue;
use vm_pmu_arch::feed::{Context, Demand, Feed, Lone, Record, Records, Scope, Signal, SignalSet};
use vm_pmu_arch::layout::{self, Field, FieldAccess};
use vm_pmu_arch::model::{Model, Occurrence, RegisterDescription, Reset};

// ANCHOR: layout
/// The control register.
const CONTROL: Address = Address::Msr(0x100);
/// The counter, of 32 bits. It counts retired instructions.
const COUNT: Address = Address::Msr(0x101);
const WIDTH: Width = Width::new(32);

const EN: Field = field("EN", 0, 0, FieldAccess::ReadWrite, "the counter counts");
const INT: Field = field("INT", 1, 1, FieldAccess::ReadWrite, "an overflow interrupts");
const RESERVED: Field = field("reserved", 63, 2, FieldAccess::MustBeZero, "");
const VALUE: Field = field("VALUE", 31, 0, FieldAccess::ReadWrite, "instructions retired");

const fn field(name: &'static str, high: u8, low: u8, access: FieldAccess, summary: &'static str) -> Field {
    Field { name, high, low, access, summary }
}

static REGISTERS: [RegisterDescription; 2] = [
    RegisterDescription { name: "Control", address: CONTROL, fields: &[EN, INT, RESERVED] },
    RegisterDescription { name: "Count", address: COUNT, fields: &[VALUE] },
];

/// Nothing can be selected: the counter has one event.
static CATALOGUE: Catalogue = Catalogue::without_events("toy", "Toy", "this file");
// ANCHOR_END: layout

// ANCHOR: state
/// The PMU of one thread.
struct Toy {
    control: u64,
    counter: Counter,
    tap: Tap,
    context: Context,
    demand: Demand,
    alerts: Alerts,
}
// ANCHOR_END: state

// ANCHOR: counting
impl Toy {
    fn new() -> Toy {
        Toy {
            control: 0,
            counter: Counter::new(0, WIDTH),
            tap: Tap::new(Gate::Sum, Scope::Thread, [Signal::InstructionsRetired]),
            context: Context::RESET,
            demand: Demand::default(),
            alerts: Alerts::default(),
        }
    }

    fn is_counting(&self) -> bool {
        EN.of(self.control) != 0
    }

    /// Counts up to now.
    fn catch_up(&mut self, feed: &impl Feed) {
        if !self.is_counting() {
            return self.tap.skip(feed);
        }
        let grown = self.tap.fold(feed);
        let overflowed = self.counter.add(grown, WIDTH) != 0;
        if overflowed {
            self.alerts.overflows |= 1;
            if INT.of(self.control) != 0 {
                self.alerts.interrupts |= 1;
                self.alerts.late = self.alerts.late.max(self.counter.value());
            }
        }
    }

    /// Sets the deadline, and the demand, after anything has changed.
    fn rearm(&mut self, feed: &impl Feed) {
        self.tap.disarm(feed);
        if self.is_counting() {
            self.tap.arm(feed, Some(self.counter.until_overflow(WIDTH)));
        }
        self.demand.follow(self.followed(), false, Records::NONE, feed.supply());
        self.alerts.renewed = true;
    }
}
// ANCHOR_END: counting

// ANCHOR: model
impl Model for Toy {
    fn read(&mut self, address: Address, feed: &impl Feed) -> Result<u64, Fault> {
        self.check(address)?;
        self.catch_up(feed);
        Ok(if address == CONTROL { self.control } else { self.counter.value() })
    }

    fn write(&mut self, address: Address, value: u64, feed: &impl Feed) -> Result<(), Fault> {
        self.check(address)?;
        let fields = if address == CONTROL { REGISTERS[0].fields } else { REGISTERS[1].fields };
        if value & layout::refused(fields) != 0 {
            return Err(Fault::GeneralProtection);
        }
        self.catch_up(feed);
        if address == CONTROL {
            self.control = value;
        } else {
            self.counter = Counter::new(value, WIDTH);
        }
        self.rearm(feed);
        Ok(())
    }

    fn service(&mut self, feed: &impl Feed) {
        self.catch_up(feed);
        self.rearm(feed);
    }

    fn set_context(&mut self, context: Context, _feed: &impl Feed) {
        self.context = context;
    }

    fn context(&self) -> &Context {
        &self.context
    }

    fn inject(&mut self, _occurrence: Occurrence, _amount: u64, _feed: &impl Feed) -> bool {
        false
    }

    fn record(&mut self, _record: &Record, _feed: &impl Feed) {}

    fn demand(&self) -> &Demand {
        &self.demand
    }

    fn followed(&self) -> SignalSet {
        if self.is_counting() { SignalSet::only(Signal::InstructionsRetired) } else { SignalSet::EMPTY }
    }

    fn succeed_demand(&mut self, before: &Demand) {
        self.demand.succeed(before);
    }

    fn take_alerts(&mut self) -> Alerts {
        core::mem::take(&mut self.alerts)
    }

    fn reset(&mut self, _reset: Reset, feed: &impl Feed) {
        self.tap.disarm(feed);
        let demand = self.demand;
        *self = Toy { demand, ..Toy::new() };
        self.tap.skip(feed);
        self.rearm(feed);
    }

    fn catalogue(&self) -> &'static Catalogue {
        &CATALOGUE
    }

    fn registers(&self) -> &'static [RegisterDescription] {
        &REGISTERS
    }
}

impl Toy {
    /// Both registers are for privilege level 0.
    fn check(&self, address: Address) -> Result<(), Fault> {
        match address {
            CONTROL | COUNT if self.context.privilege == 0 => Ok(()),
            CONTROL | COUNT => Err(Fault::GeneralProtection),
            _ => Err(Fault::Unclaimed),
        }
    }
}
// ANCHOR_END: model

// ANCHOR: drive
/// One instruction of a guest, as an emulator reports it. Returns whether the PMU requests an interrupt.
fn retire(pmu: &mut Toy, thread: &Lone) -> bool {
    thread.totals.add(Signal::InstructionsRetired, 1);
    if thread.deadlines.reached(Signal::InstructionsRetired, &thread.totals) {
        pmu.service(thread);
    }
    pmu.take_alerts().interrupts != 0
}

#[test]
fn the_interrupt_comes_at_the_instruction_that_overflows() {
    let (mut pmu, thread) = (Toy::new(), Lone::new());
    pmu.write(COUNT, 0xFFFF_FFFD, &thread).unwrap();
    pmu.write(CONTROL, 0b11, &thread).unwrap();
    assert_eq!([(); 5].map(|()| retire(&mut pmu, &thread)), [false, false, true, false, false]);
    assert_eq!(pmu.read(COUNT, &thread), Ok(2));
}
// ANCHOR_END: drive

#[test]
fn nothing_is_demanded_while_the_counter_is_off() {
    let (mut pmu, thread) = (Toy::new(), Lone::new());
    assert!(!pmu.demand().wants(Signal::InstructionsRetired));
    pmu.write(CONTROL, 1, &thread).unwrap();
    assert!(pmu.demand().wants(Signal::InstructionsRetired));
    pmu.write(CONTROL, 0, &thread).unwrap();
    assert!(!pmu.demand().wants(Signal::InstructionsRetired));
}

#[test]
fn instructions_before_it_is_enabled_and_after_it_is_disabled_do_not_count() {
    let (mut pmu, thread) = (Toy::new(), Lone::new());
    for (control, instructions) in [(0, 3), (1, 4), (0, 5)] {
        pmu.write(CONTROL, control, &thread).unwrap();
        thread.totals.add(Signal::InstructionsRetired, instructions);
    }
    assert_eq!(pmu.read(COUNT, &thread), Ok(4));
}

#[test]
fn reserved_bits_and_other_privilege_levels_are_refused() {
    let (mut pmu, thread) = (Toy::new(), Lone::new());
    assert_eq!(pmu.write(CONTROL, 0b100, &thread), Err(Fault::GeneralProtection));
    pmu.set_context(Context::x86(3, 0x202, 0), &thread);
    assert_eq!(pmu.read(COUNT, &thread), Err(Fault::GeneralProtection));
    assert_eq!(pmu.read(Address::Msr(0x102), &thread), Err(Fault::Unclaimed));
}

#[test]
fn an_overflow_without_int_requests_no_interrupt() {
    let (mut pmu, thread) = (Toy::new(), Lone::new());
    pmu.write(COUNT, 0xFFFF_FFFF, &thread).unwrap();
    pmu.write(CONTROL, 0b01, &thread).unwrap();
    assert!(!retire(&mut pmu, &thread));
    assert_eq!(pmu.read(COUNT, &thread), Ok(0));
}

#[test]
fn a_reset_clears_both_registers() {
    let (mut pmu, thread) = (Toy::new(), Lone::new());
    pmu.write(CONTROL, 1, &thread).unwrap();
    thread.totals.add(Signal::InstructionsRetired, 7);
    pmu.reset(Reset::Cold, &thread);
    assert_eq!([CONTROL, COUNT].map(|register| pmu.read(register, &thread)), [Ok(0), Ok(0)]);
}
