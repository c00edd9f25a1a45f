//! What Linux makes of the nodes: `arch/powerpc/platforms/powernv/opal-imc.c` and `arch/powerpc/perf/imc-pmu.c`, field by field, with the
//! driver's order, its fallbacks and its reasons to pass a node by.

use super::parsed::Node;

/// Where the control block is if a node does not say.
const DEFAULT_CONTROL_BLOCK: u32 = 0x3_FC00;

/// Whose counters a PMU has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Domain {
    Nest,
    Core,
    Thread,
    Trace,
}

/// An event as `/sys/bus/event_source/devices/PMU/events` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) name: String,
    /// The number behind `event=`.
    pub(super) value: u32,
    pub(super) scale: Option<String>,
    pub(super) unit: Option<String>,
}

/// A chip's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Memory {
    pub(super) chip: u32,
    /// Where the region begins.
    pub(super) base: u64,
    /// Where the control block begins.
    pub(super) control: u64,
}

/// A PMU as it is registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pmu {
    pub(super) name: String,
    pub(super) domain: Domain,
    pub(super) size: u32,
    pub(super) memory: Vec<Memory>,
    pub(super) events: Vec<Event>,
}

impl Pmu {
    pub(super) fn event(&self, name: &str) -> Option<&Event> {
        self.events.iter().find(|event| event.name == name)
    }

    /// The address of a counter on a chip, as the driver opens an event; nothing if it refuses.
    pub(super) fn address(&self, chip: u32, event: &Event) -> Option<u64> {
        if event.value > self.size {
            return None;
        }
        let memory = self.memory.iter().find(|memory| memory.chip == chip)?;
        Some(memory.base + u64::from(event.value))
    }
}

/// The first cell of a property that has one.
fn cell(node: &Node, name: &str) -> Option<u32> {
    node.property(name)?.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
}

/// A string that has an end.
fn string<'n>(node: &'n Node, name: &str) -> Option<&'n str> {
    let value = node.property(name)?;
    let end = value.iter().position(|byte| *byte == 0)?;
    std::str::from_utf8(&value[..end]).ok()
}

/// Whether one of the strings of `compatible` is `wanted`.
fn is_compatible(node: &Node, wanted: &str) -> bool {
    node.property("compatible").is_some_and(|list| list.split(|byte| *byte == 0).any(|name| name == wanted.as_bytes()))
}

fn by_phandle(root: &Node, handle: u32) -> Option<&Node> {
    root.all().into_iter().find(|node| cell(node, "phandle") == Some(handle))
}

/// As many numbers of eight bytes as there are chips, or none.
fn addresses(node: &Node, chips: usize) -> Option<Vec<u64>> {
    let value = node.property("base-addr")?.get(..chips * 8)?;
    Some(value.chunks_exact(8).map(|bytes| u64::from_be_bytes(bytes.try_into().unwrap())).collect())
}

/// The memory of each chip; nothing where the driver gives the node up.
fn nest_memory(node: &Node, offset: u32) -> Option<Vec<Memory>> {
    let numbers = node.property("chip-id")?;
    if numbers.is_empty() || numbers.len() % 4 != 0 {
        return None;
    }
    let numbers: Vec<u32> = numbers.chunks_exact(4).map(|bytes| u32::from_be_bytes(bytes.try_into().unwrap())).collect();
    let control = cell(node, "cb_offset").unwrap_or(DEFAULT_CONTROL_BLOCK);
    let homes = addresses(node, numbers.len())?;
    let memory = |(chip, home): (u32, u64)| {
        let base = home + u64::from(offset);
        Memory { chip, base, control: base + u64::from(control) }
    };
    Some(numbers.into_iter().zip(homes).map(memory).collect())
}

/// An event's node; nothing where the driver skips it.
fn event(node: &Node, unit: &Node, prefix: &str, base: u32) -> Option<Event> {
    let value = base.wrapping_add(cell(node, "reg")?);
    let name = format!("{prefix}{}", string(node, "event-name")?);
    let inherited = |property| string(node, property).or_else(|| string(unit, property)).map(str::to_string);
    Some(Event { name, value, scale: inherited("scale"), unit: inherited("unit") })
}

/// The events of a unit: none if it names no node of them, or no prefix.
fn events(root: &Node, unit: &Node) -> Vec<Event> {
    let Some(node) = cell(unit, "events").and_then(|handle| by_phandle(root, handle)) else { return Vec::new() };
    let Some(prefix) = string(unit, "events-prefix") else { return Vec::new() };
    // The driver does not look whether there is one, and takes what was on its stack.
    let base = cell(unit, "reg").expect("a unit has a base");
    node.children.iter().filter_map(|node| event(node, unit, prefix, base)).collect()
}

/// A unit's node; nothing where the driver makes no PMU of it.
fn pmu(root: &Node, unit: &Node) -> Option<Pmu> {
    let domain = match cell(unit, "type")? {
        0x10 => Domain::Nest,
        4 => Domain::Core,
        1 => Domain::Thread,
        2 => Domain::Trace,
        _ => return None,
    };
    let size = cell(unit, "size")?;
    let memory = match cell(unit, "offset") {
        Some(offset) => nest_memory(unit, offset)?,
        None => Vec::new(),
    };
    let name = match domain {
        Domain::Nest => format!("nest_{}_imc", unit.name()),
        Domain::Core | Domain::Thread | Domain::Trace => format!("{}_imc", unit.name()),
    };
    Some(Pmu { name, domain, size, memory, events: events(root, unit) })
}

/// The PMUs that the driver registers; nothing if it does not start.
pub(super) fn probe(root: &Node) -> Option<Vec<Pmu>> {
    root.all().into_iter().find(|node| is_compatible(node, "ibm,opal-in-memory-counters"))?;
    let units = root.all().into_iter().filter(|node| is_compatible(node, "ibm,imc-counters"));
    let mut pmus: Vec<Pmu> = units.filter_map(|unit| pmu(root, unit)).collect();
    if !pmus.iter().any(|pmu| pmu.domain == Domain::Core) {
        pmus.retain(|pmu| pmu.domain != Domain::Thread);
    }
    Some(pmus)
}

/// Whether `arch/powerpc/kernel/dt_cpu_ftrs.c` turns the POWER9's PMU on, run in hypervisor state.
pub(super) fn enables_the_core_pmu(root: &Node) -> bool {
    let features = root.all().into_iter().find(|node| is_compatible(node, "ibm,powerpc-cpu-features") && cell(node, "isa").is_some());
    let Some(feature) = features.and_then(|node| node.child("performance-monitor-power9")) else { return false };
    let (Some(_), Some(privilege)) = (cell(feature, "isa"), cell(feature, "usable-privilege")) else { return false };
    let (problem, operating_system, hypervisor) = (privilege & 1 != 0, privilege & 2 != 0, privilege & 4 != 0);
    // What turns a feature on belongs to a privilege that can use it, and a bit of a register to a way that uses the register.
    let is_sound = |usable: bool, way: &str, bit: &str| match (usable, cell(feature, way), cell(feature, bit)) {
        (false, way, bit) => way.is_none() && bit.is_none(),
        (true, None, bit) => bit.is_none(),
        (true, Some(1), bit) => bit.is_some(),
        (true, Some(_), _) => true,
    };
    is_sound(hypervisor, "hv-support", "hfscr-bit-nr")
        && is_sound(operating_system, "os-support", "fscr-bit-nr")
        && (problem || cell(feature, "hwcap-bit-nr").is_none())
        && feature.property("dependencies").is_none()
}
