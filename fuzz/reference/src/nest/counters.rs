//! The counters of a chip's nest, and its clocks (6.1.3, 6.1.4, table 6-1; `docs/notes/power9-nest.md`, N4 to N10, N23).

use super::map::{Clock, FLEXIBLE, Kind, Register, cells_of_the_event_at, clock_at, default_registers, flexible_buffers, names};

/// One counter of a PMUlet.
#[derive(Clone, Copy)]
struct Counter {
    value: u16,
    /// What the prescaler holds, in events; `None` once the counter was read at its last value, as nothing says whether the prescaler of a
    /// frozen counter goes on. The value is then not known either.
    rest: Option<u64>,
    /// The events since it began or was read.
    events: u128,
}

impl Counter {
    const ZERO: Counter = Counter { value: 0, rest: Some(0), events: 0 };
}

/// What a register holds.
enum Content {
    Pmulet {
        counters: [Counter; 4],
        prescalers: [u32; 4],
        freezes: bool,
    },
    /// The values of its free-running counters, and the readings that the engine remembers.
    Free {
        values: [u64; 2],
        remembered: [Option<u64>; 2],
    },
}

/// A register and what it holds.
struct Cell {
    register: Register,
    content: Content,
}

impl Cell {
    fn new(register: Register) -> Cell {
        let content = match register.kind {
            Kind::Pmulet { .. } => Content::Pmulet { counters: [Counter::ZERO; 4], prescalers: [8; 4], freezes: false },
            _ => Content::Free { values: [0; 2], remembered: [None; 2] },
        };
        Cell { register, content }
    }

    /// The width of its free-running counters.
    fn width(&self) -> u32 {
        if self.register.kind == Kind::Bridge { 48 } else { 32 }
    }

    /// Counter `at` counts what came `amount` times.
    fn count(&mut self, at: usize, amount: u128) {
        let width = self.width();
        match &mut self.content {
            Content::Pmulet { counters, prescalers, freezes } => {
                let Kind::Pmulet { link } = self.register.kind else { return };
                let step = 1u128 << (prescalers[at] + if link { 4 } else { 0 });
                let Some(rest) = counters[at].rest else { return };
                let sum = u128::from(rest) + amount;
                let units = u128::from(counters[at].value) + sum / step;
                counters[at].rest = Some((sum % step) as u64);
                counters[at].events = counters[at].events.saturating_add(amount);
                // An embedder's totals wrap at 64 bits, of which a counter that freezes sees nothing.
                if *freezes && counters[at].events >> 64 != 0 {
                    counters[at].rest = None;
                }
                // One that freezes stops at its last value; one that runs on wraps (N7, P45).
                counters[at].value = if *freezes { units.min(0xFFFF) as u16 } else { units as u16 };
            }
            Content::Free { values, .. } => values[at] = (u128::from(values[at]) + amount) as u64 & ((1 << width) - 1),
        }
    }

    /// What the register holds, if that is known.
    fn value(&self) -> Option<u64> {
        match &self.content {
            Content::Pmulet { counters, .. } => {
                counters.iter().try_fold(0, |value, counter| counter.rest.map(|_| value << 16 | u64::from(counter.value)))
            }
            Content::Free { values: [first, second], .. } => match self.register.kind {
                Kind::Bridge => Some(first << 16),
                _ => Some(first << 32 | second),
            },
        }
    }

    /// The engine reads it: the amounts that are to be posted, from its first cell on.
    fn take(&mut self) -> Vec<Option<u64>> {
        let width = self.width();
        match &mut self.content {
            Content::Pmulet { counters, freezes, .. } => {
                let read = |counter: &mut Counter| {
                    let value = counter.rest.map(|_| u64::from(counter.value));
                    let is_at_last = *freezes && counter.value == 0xFFFF;
                    *counter = Counter { rest: if is_at_last { None } else { counter.rest }, ..Counter::ZERO };
                    value
                };
                counters.iter_mut().map(read).collect()
            }
            Content::Free { values, remembered } => {
                let differences = values.iter().zip(remembered.iter_mut()).map(|(value, before)| {
                    let difference = before.map_or(0, |before| value.wrapping_sub(before) & ((1 << width) - 1));
                    *before = Some(*value);
                    difference
                });
                let differences: Vec<u64> = differences.collect();
                match self.register.kind {
                    Kind::Bridge => vec![Some(differences[0])],
                    // The clock counts every second one (N9).
                    Kind::BufferClock => vec![Some(2 * differences[0])],
                    _ => differences.into_iter().map(Some).collect(),
                }
            }
        }
    }
}

/// A clock that is a fraction of the nest's.
struct Divided {
    frequency: u64,
    /// What a division has left, in cycles times frequency.
    rest: u128,
}

impl Divided {
    fn ticks(&mut self, cycles: u64, nest: u64) -> u128 {
        let sum = self.rest + u128::from(cycles) * u128::from(self.frequency);
        self.rest = sum % u128::from(nest);
        sum / u128::from(nest)
    }
}

/// The frequencies of a chip.
#[derive(Clone, Copy)]
pub struct Frequencies {
    /// The PB clock.
    pub nest: u64,
    /// That of host bridges.
    pub host_bridge: u64,
    /// That of memory.
    pub memory: u64,
}

/// All counters of a chip.
pub(super) struct Counters {
    cells: Vec<Cell>,
    nest: u64,
    bridge: Divided,
    memory: Divided,
    /// Half a step of the memory buffers' clocks.
    odd: bool,
    /// The cells that count clocks, with their registers and their counters within.
    clocks: Vec<(u32, Clock, usize, usize)>,
    /// Whether the PMUlets are programmed for the events of the flexible mode.
    pub(super) flexible: bool,
}

impl Counters {
    pub(super) fn new(frequencies: Frequencies) -> Counters {
        let divided = |frequency| Divided { frequency, rest: 0 };
        let mut counters = Counters {
            cells: default_registers().iter().copied().chain(flexible_buffers()).map(Cell::new).collect(),
            nest: frequencies.nest.max(1),
            bridge: divided(frequencies.host_bridge),
            memory: divided(frequencies.memory),
            odd: false,
            clocks: Vec::new(),
            flexible: false,
        };
        let clocks = names().keys().filter_map(|cell| {
            let (index, at) = counters.place(*cell)?;
            Some((*cell, clock_at(*cell)?, index, at))
        });
        counters.clocks = clocks.collect();
        counters
    }

    /// Where the counter is whose cell is `cell`: the register's index, and its number within.
    fn place(&self, cell: u32) -> Option<(usize, usize)> {
        let find = |cell: u32| {
            self.cells.iter().enumerate().find_map(|(index, known)| {
                let counters = match known.register.kind {
                    Kind::Pmulet { .. } => 4,
                    Kind::Buffer => 2,
                    Kind::Bridge | Kind::BufferClock => 1,
                };
                let at = cell.checked_sub(known.register.cell)? / 8;
                (at < counters).then_some((index, at as usize))
            })
        };
        // The flexible mode's events are counted by the same PMUlets, but for those of memory buffers.
        find(cell).or_else(|| find(cell.checked_sub(FLEXIBLE)?))
    }

    /// An event occurs, which is posted at `cell`: it is counted if the counters are programmed for its mode. What is behind no prescaler is
    /// counted in any mode.
    pub(super) fn happen(&mut self, cell: u32, amount: u128) {
        for cell in cells_of_the_event_at(cell) {
            if let Some((index, at)) = self.place(cell) {
                let is_programmed = (cell >= FLEXIBLE) == self.flexible;
                if is_programmed || !matches!(self.cells[index].register.kind, Kind::Pmulet { .. }) {
                    self.cells[index].count(at, amount);
                }
            }
        }
    }

    /// So many cycles of the nest pass.
    pub(super) fn pass(&mut self, cycles: u64) {
        let bridge = self.bridge.ticks(cycles, self.nest);
        let memory = self.memory.ticks(cycles, self.nest);
        for &(cell, clock, index, at) in &self.clocks {
            let amount = match clock {
                Clock::Nest => u128::from(cycles),
                Clock::Bridge => bridge,
                Clock::Memory => memory,
            };
            // What is behind no prescaler counts in any mode.
            if (cell >= FLEXIBLE) == self.flexible || clock == Clock::Bridge {
                self.cells[index].count(at, amount);
            }
        }
        let halves = u128::from(self.odd) + memory;
        self.odd = halves % 2 == 1;
        self.cells.iter_mut().filter(|cell| cell.register.kind == Kind::BufferClock).for_each(|cell| cell.count(0, halves / 2));
    }

    /// Configuration: each PMUlet begins from zero, with prescalers of `bits` bits and running on.
    pub(super) fn configure(&mut self, flexible: bool, bits: u32) {
        self.flexible = flexible;
        for cell in &mut self.cells {
            if let Content::Pmulet { .. } = cell.content {
                cell.content = Content::Pmulet { counters: [Counter::ZERO; 4], prescalers: [bits; 4], freezes: false };
            }
        }
    }

    /// Forgets what was read of host bridges and memory buffers.
    pub(super) fn forget_readings(&mut self) {
        for cell in &mut self.cells {
            if let Content::Free { remembered, .. } = &mut cell.content {
                *remembered = [None; 2];
            }
        }
    }

    /// The PMUlet whose first counter is posted at `cell` begins from zero with this setting, if that mode is programmed: configuration for
    /// another sets each anew.
    pub(super) fn program(&mut self, cell: u32, bits: [u32; 4], freezes: bool) {
        if (cell >= FLEXIBLE) != self.flexible {
            return;
        }
        if let Some((index, 0)) = self.place(cell)
            && let Content::Pmulet { counters, prescalers, freezes: known } = &mut self.cells[index].content
        {
            (*counters, *prescalers, *known) = ([Counter::ZERO; 4], bits, freezes);
        }
    }

    /// The value of the register whose first counter is posted at `cell`, within that `None` if there is no such register. A PMUlet that is
    /// programmed for the events of the other mode, or has none, is not known by this cell.
    pub(super) fn register(&self, cell: u32) -> Option<Option<u64>> {
        let Some((index, 0)) = self.place(cell) else { return Some(None) };
        let register = &self.cells[index];
        let is_free = !matches!(register.register.kind, Kind::Pmulet { .. });
        if is_free {
            return if cell < FLEXIBLE { register.value().map(Some) } else { Some(None) };
        }
        let has_events = names().range(cell..cell + 0x20).next().is_some();
        if (cell >= FLEXIBLE) == self.flexible && has_events { register.value().map(Some) } else { None }
    }

    /// Reads what a turn of a group posts of the available units: cells with their amounts, where those are known.
    pub(super) fn take(&mut self, group: u32, turn: u32, available: u64) -> Vec<(u32, Option<u64>)> {
        let flexible = self.flexible;
        let mut posted = Vec::new();
        for cell in &mut self.cells {
            let Register { cell: first, kind, unit, group: own, turn: own_turn } = cell.register;
            if (own, own_turn) != (group, turn) || !unit.is_in(available) {
                continue;
            }
            // The flexible mode posts PMUlets alone, and the default mode none of the memory buffers'.
            let is_pmulet = matches!(kind, Kind::Pmulet { .. });
            if flexible && !is_pmulet || !flexible && first >= FLEXIBLE {
                continue;
            }
            let first = if flexible && first < FLEXIBLE { first + FLEXIBLE } else { first };
            posted.extend((0..).zip(cell.take()).map(|(at, amount)| (first + 8 * at, amount)));
        }
        posted
    }
}
