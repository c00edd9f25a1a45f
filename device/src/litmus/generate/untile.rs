//! Programs about the boxes of Knights Landing: a few of them, near their overflow, with events in them.

use alloc::boxed::Box;
use alloc::vec::Vec;
use arbitrary::{Result, Unstructured};
use vm_pmu_arch::access::Address;
use vm_pmu_arch::event::{self, Entry};
use vm_pmu_arch::feed::{Request, RequestKind, Supplier};
use vm_pmu_arch::registry::Part;

use super::MAX_STEPS;
use crate::litmus::untile::{self, Configuration, MeshStep, UntileStep};
use crate::litmus::{Beginning, ContextField, Litmus, Step};
use crate::untile::{Agent, DeviceAccess, Domain, FilterState, Kind, Lookup, Ring, Source, Stage, Stop, Transaction, UnitId, UnitRegister};

/// The most boxes of one program.
const UNITS: usize = 3;
/// The number of its events.
const EVENTS: usize = 2;
/// The first event select of the mesh stop that every box has.
const FIRST_OF_MESH: u32 = 0x80;
/// Who has a line that a tile asks for.
const SUPPLIERS: [Supplier; 5] = [
    Supplier::Unknown,
    Supplier::OtherCluster { far: false },
    Supplier::NearMemory { far: false },
    Supplier::Memory { far: false },
    Supplier::Device,
];
/// The controls of all boxes.
const GLOBAL_CONTROL: u32 = 0x700;
const GLOBAL_STATUS: u32 = 0x701;

/// The boxes of a program, and the events that occur in them.
struct Cast {
    units: Vec<UnitId>,
    events: Vec<&'static Entry>,
}

impl Cast {
    fn unit(&self, bytes: &mut Unstructured<'_>) -> Result<UnitId> {
        bytes.choose(&self.units).copied()
    }

    /// An event of the program, its unit mask mostly as the catalogue has it.
    fn event(&self, unit: UnitId, bytes: &mut Unstructured<'_>) -> Result<(u8, u8)> {
        if unit.kind() == Kind::Pcu && bytes.ratio(1, 2)? {
            return Ok((0x80, bytes.int_in_range(0..=3)?));
        }
        if bytes.ratio(1, 12)? {
            return Ok((bytes.arbitrary()?, bytes.arbitrary()?));
        }
        let entry = bytes.choose(&self.events)?;
        let umask = match bytes.int_in_range(0..=7u8)? {
            0 => bytes.arbitrary()?,
            // A request's source and response.
            1 if entry.select == 0x35 || entry.select == 0x36 => *bytes.choose(&[0x11, 0x21, 0x3F, 0x14])?,
            _ => entry.umask.unwrap_or(0) as u8,
        };
        Ok((entry.select as u8, umask))
    }
}

impl Litmus {
    /// A program about the boxes that threads of Knights Landing share, from arbitrary bytes.
    ///
    /// # Errors
    /// When the bytes are used up before the program has a header, or this build does not have the part.
    pub fn arbitrary_untile(bytes: &mut Unstructured<'_>) -> Result<Litmus> {
        let part = Part::named("knl").ok_or(arbitrary::Error::IncorrectFormat)?;
        let kinds: Vec<Kind> = (0..bytes.int_in_range(1..=UNITS)?).map(|_| bytes.choose(&Kind::ALL).copied()).collect::<Result<_>>()?;
        let mut units = Vec::new();
        for kind in kinds {
            units.extend(UnitId::new(kind, bytes.int_in_range(0..=kind.count() - 1)?));
        }
        let of_units = |entry: &&Entry| {
            entry.select >= FIRST_OF_MESH && entry.unit == "cms" || units.iter().any(|unit| unit.kind().unit() == entry.unit)
        };
        let possible: Vec<&'static Entry> = event::KNL.entries.iter().filter(of_units).collect();
        let mut events = Vec::new();
        for _ in 0..EVENTS {
            events.push(*bytes.choose(&possible)?);
        }
        let cast = Cast { units, events };
        let mut steps = Vec::new();
        while !bytes.is_empty() && steps.len() < MAX_STEPS {
            step(&cast, bytes, &mut steps)?;
        }
        Ok(Litmus {
            title: "An arbitrary program of the boxes".into(),
            section: "the contract".into(),
            part,
            packages: 2,
            threads: 1,
            shared_counters: false,
            beginning: Beginning::default(),
            steps: (1..).zip(steps).collect(),
        })
    }
}

fn step(cast: &Cast, bytes: &mut Unstructured<'_>, steps: &mut Vec<Step>) -> Result<()> {
    let unit = cast.unit(bytes)?;
    let own = match bytes.int_in_range(0..=35u8)? {
        0..=3 => return load(cast, unit, bytes, steps),
        4..=5 => return control(unit, bytes, steps),
        6 => return filter(unit, bytes, steps),
        7 => return global(bytes, steps),
        8 => return anywhere(unit, bytes, steps),
        9 => return thread(bytes, steps),
        10..=12 => {
            let registers = untile::registers(unit);
            steps.push(Step::Read(*bytes.choose(&registers)?, Ok(0)));
            return Ok(());
        }
        13 => {
            steps.push(Step::Save);
            return Ok(());
        }
        14 if bytes.ratio(1, 4)? => UntileStep::Reset,
        14..=15 => UntileStep::Listens(unit, false),
        16..=21 => tick(unit, bytes)?,
        22..=24 => {
            let (select, umask) = cast.event(unit, bytes)?;
            let (each, clocks) = if bytes.ratio(1, 16)? {
                (bytes.arbitrary::<u64>()? >> 14, u64::from(bytes.arbitrary::<u8>()?))
            } else {
                (bytes.int_in_range(0..=4)?, bytes.int_in_range(0..=9)?)
            };
            UntileStep::Happen { unit, select, umask, each, clocks }
        }
        25..=28 => {
            let (select, umask) = cast.event(unit, bytes)?;
            let change = if bytes.ratio(1, 32)? { bytes.arbitrary()? } else { bytes.int_in_range(-4..=6i64)? };
            match u64::try_from(change) {
                Ok(level) if bytes.ratio(1, 8)? => UntileStep::SetQueue { unit, select, umask, level },
                _ => UntileStep::Queue { unit, select, umask, change },
            }
        }
        32..=35 => UntileStep::Mesh(mesh(cast, unit, bytes)?),
        _ => {
            let number = if unit.kind() == Kind::Cha { unit.number() } else { 0 };
            let stage = match bytes.int_in_range(0..=3u8)? {
                0 => Stage::Leaves,
                1 => Stage::Served { clocks: bytes.int_in_range(0..=20)? },
                _ => Stage::Enters,
            };
            UntileStep::Transact(number, Box::new(transaction(bytes)?), stage)
        }
    };
    steps.push(Step::Untile(own));
    Ok(())
}

fn tick(unit: UnitId, bytes: &mut Unstructured<'_>) -> Result<UntileStep> {
    let domain = if bytes.ratio(3, 4)? { unit.kind().domain() } else { *bytes.choose(&Domain::ALL)? };
    let clocks = match bytes.int_in_range(0..=9u8)? {
        0 => bytes.arbitrary::<u64>()? >> 15,
        1..=5 => bytes.int_in_range(0..=7)?,
        _ => bytes.int_in_range(0..=80)?,
    };
    Ok(match bytes.int_in_range(0..=7u8)? {
        0..=1 => UntileStep::Pass(clocks),
        2 => UntileStep::TickAll(clocks),
        _ => UntileStep::Tick(domain, clocks),
    })
}

/// Messages between boxes of the program, mostly, or of a request or a device.
fn mesh(cast: &Cast, unit: UnitId, bytes: &mut Unstructured<'_>) -> Result<MeshStep> {
    // Few lines, so that requests for the same one meet.
    let physical = u64::from(bytes.int_in_range(0..=3u8)?) << 6;
    let home = if unit.kind() == Kind::Cha { unit.number() } else { bytes.int_in_range(0..=37)? };
    Ok(match bytes.int_in_range(0..=5u8)? {
        0 => MeshStep::Device {
            access: *bytes.choose(&DeviceAccess::ALL)?,
            physical: bytes.arbitrary::<bool>()?.then_some(physical),
            home,
            hit: bytes.arbitrary()?,
        },
        1..=2 => {
            let request = Request {
                supplier: *bytes.choose(&SUPPLIERS)?,
                physical,
                holder: bytes.arbitrary::<bool>()?.then_some(bytes.int_in_range(0..=37)?),
                ..Request::of(*bytes.choose(&RequestKind::ALL)?)
            };
            MeshStep::Request { tile: bytes.int_in_range(0..=37)?, home, request: Box::new(request) }
        }
        _ => {
            let other = UnitId::new(Kind::Cha, bytes.int_in_range(0..=37)?).unwrap_or(unit);
            let at_a_stop = |unit: UnitId| if Stop::of(unit).is_some() { unit } else { other };
            let (from, to) = if bytes.arbitrary()? { (at_a_stop(unit), other) } else { (other, at_a_stop(cast.unit(bytes)?)) };
            MeshStep::Message { from, agent: *bytes.choose(&Agent::ALL)?, to, ring: *bytes.choose(&Ring::ALL)? }
        }
    })
}

/// Writes a register, and both its dwords if it has two.
fn write(unit: UnitId, register: UnitRegister, value: u64, steps: &mut Vec<Step>) {
    let is_counter = matches!(register, UnitRegister::Counter(_) | UnitRegister::Fixed);
    let halves = unit.kind().is_pci() && is_counter;
    let value = if halves || !is_counter { value } else { value & ((1 << 48) - 1) };
    let of = |high| untile::address_of_register(unit, register, high);
    if let Some(address) = of(false) {
        steps.push(Step::Write(address, if halves { value & 0xFFFF_FFFF } else { value }, None));
    }
    if let (true, Some(address)) = (halves, of(true)) {
        steps.push(Step::Write(address, value >> 32, None));
    }
}

/// Loads a counter near its overflow, with an event selected.
fn load(cast: &Cast, unit: UnitId, bytes: &mut Unstructured<'_>, steps: &mut Vec<Step>) -> Result<()> {
    let near = u64::from(bytes.int_in_range(0..=90u8)?).wrapping_neg();
    let number = bytes.int_in_range(0..=unit.kind().counters().saturating_sub(1))? as u8;
    if unit.kind().has_fixed() && bytes.ratio(1, 4)? {
        if bytes.ratio(2, 3)? {
            write(unit, UnitRegister::Fixed, near, steps);
        }
        let rarely = if bytes.ratio(1, 6)? { bytes.arbitrary::<u32>()? } else { 0 };
        write(unit, UnitRegister::FixedControl, u64::from(0x0050_0001 ^ rarely), steps);
        return Ok(());
    }
    if bytes.ratio(1, 2)? {
        write(unit, UnitRegister::Counter(number), near, steps);
    }
    let (select, umask) = cast.event(unit, bytes)?;
    let flags: u8 = bytes.arbitrary()?;
    // Mostly enabled and reporting its overflow; sometimes compared.
    let flags = if bytes.ratio(3, 4)? { flags & 0x0B | 0x50 } else { flags };
    let flags = if bytes.ratio(2, 3)? { flags & !0x87 } else { flags };
    let threshold = if bytes.ratio(1, 3)? { *bytes.choose(&[1u8, 2, 3, 9, 200])? } else { 0 };
    let choice = if unit.kind() == Kind::Pcu && select >= 0x80 {
        0x80 | u64::from(umask & 3) << 14
    } else {
        u64::from(select) | u64::from(umask) << 8
    };
    write(unit, UnitRegister::CounterControl(number), choice | u64::from(flags) << 16 | u64::from(threshold) << 24, steps);
    Ok(())
}

/// Freezes, releases or resets the box, or clears its status.
fn control(unit: UnitId, bytes: &mut Unstructured<'_>, steps: &mut Vec<Step>) -> Result<()> {
    let value = *bytes.choose(&[0u64, 0, 0, 0x100, 0x1_0000, 0x1_0100, 1, 2, 3, 0x3_0100, 0x10102])?;
    match bytes.int_in_range(0..=2u8)? {
        0 => write(unit, UnitRegister::Status, u64::from(bytes.arbitrary::<u8>()?), steps),
        _ => write(unit, UnitRegister::Control, value, steps),
    }
    Ok(())
}

fn filter(unit: UnitId, bytes: &mut Unstructured<'_>, steps: &mut Vec<Step>) -> Result<()> {
    let opcode = u64::from(*bytes.choose(&[0u16, 0x182, 0x182, 0x200])?);
    let first = if bytes.ratio(1, 2)? { 0x1C_0000 } else { u64::from(bytes.arbitrary::<u8>()? & 7) << 18 };
    write(unit, UnitRegister::Filter(0), first | u64::from(bytes.int_in_range(0..=3u8)?), steps);
    let groups = *bytes.choose(&[0u64, 0x22, 0x23, 0x30, 0x3B, 0x11, 0x4000_0000, 0xC000_0000])?;
    write(unit, UnitRegister::Filter(1), groups | opcode << 9, steps);
    Ok(())
}

/// Freezes and releases all boxes, and acknowledges overflows.
fn global(bytes: &mut Unstructured<'_>, steps: &mut Vec<Step>) -> Result<()> {
    let tiles = u64::from(bytes.arbitrary::<u8>()? & 7);
    let (number, value) = match bytes.int_in_range(0..=7u8)? {
        0 => (GLOBAL_CONTROL, 1 << 63 | tiles),
        1 => (GLOBAL_CONTROL, bytes.arbitrary()?),
        2 => (GLOBAL_STATUS, bytes.arbitrary()?),
        3..=4 => (GLOBAL_STATUS, u64::from(u32::MAX)),
        _ => (GLOBAL_CONTROL, 1 << 61 | tiles),
    };
    steps.push(Step::Write(Address::Msr(number), value, None));
    if number == GLOBAL_CONTROL && bytes.ratio(1, 2)? {
        steps.push(Step::Write(Address::Msr(GLOBAL_STATUS), u64::from(u32::MAX), None));
    }
    Ok(())
}

/// Bytes of configuration space of the box's function, or any model-specific register nearby.
fn anywhere(unit: UnitId, bytes: &mut Unstructured<'_>, steps: &mut Vec<Step>) -> Result<()> {
    let registers = untile::registers(unit);
    let address = *bytes.choose(&registers)?;
    let value: u32 = bytes.arbitrary()?;
    steps.push(match address {
        Address::Pci(place) => {
            let size = *bytes.choose(&[1u8, 2, 4])?;
            let offset =
                if bytes.ratio(1, 4)? { bytes.arbitrary::<u16>()? & 0xFFF } else { place.offset + u16::from(bytes.int_in_range(0..=3u8)?) };
            let offset = offset & !u16::from(size - 1);
            let place = Configuration { bus: place.bus, device: place.device, function: place.function, offset, size };
            Step::Untile(if bytes.ratio(1, 2)? { UntileStep::Read(place, 0) } else { UntileStep::Write(place, value) })
        }
        Address::Msr(number) => Step::Write(Address::Msr(number ^ u32::from(bytes.ratio(1, 4)?)), u64::from(value) << (value & 8), None),
        other => Step::Read(other, Ok(0)),
    });
    Ok(())
}

/// An interrupted thread checks its status.
fn thread(bytes: &mut Unstructured<'_>, steps: &mut Vec<Step>) -> Result<()> {
    steps.push(match bytes.int_in_range(0..=5u8)? {
        0 => Step::Thread(bytes.int_in_range(0..=1)?),
        1 => Step::Read(Address::Msr(0x38E), Ok(0)),
        2 => Step::Write(Address::Msr(0x390), 1 << 61, None),
        3 => Step::Write(Address::Msr(0x1D9), u64::from(bytes.arbitrary::<bool>()?) << 12, None),
        4 => Step::Write(Address::Msr(0x38F), 3, None),
        _ => Step::Context([(ContextField::Privilege, if bytes.ratio(1, 4)? { 3 } else { 0 })].into()),
    });
    Ok(())
}

fn transaction(bytes: &mut Unstructured<'_>) -> Result<Transaction> {
    let flags: u8 = bytes.arbitrary()?;
    Ok(Transaction {
        source: *bytes.choose(&Source::ALL)?,
        hit: flags & 1 != 0,
        lookup: *bytes.choose(&Lookup::ALL)?,
        state: *bytes.choose(&FilterState::ALL)?,
        opcode: *bytes.choose(&[0, 0x182, 0x182, 0x200])?,
        tile: 0,
        thread: bytes.int_in_range(0..=3)?,
        local: flags & 6 != 0,
        near_memory: flags & 8 != 0,
        non_coherent: flags & 0x10 != 0,
        isochronous: flags & 0x20 != 0,
    })
}
