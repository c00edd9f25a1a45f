//! The flow of a request: through the mesh, and through the agent that has its line.

use vm_pmu_arch::feed::{Request, Supplier};
use vm_pmu_arch::knl::untile::{Domain, FilterState, Kind, Lookup, Source, Stage, Transaction, UnitId};
use vm_pmu_arch::lock::MutexGuard;

use super::home::{Credit, Holds, Homes, Needs, Queue, Seeks};
use super::mesh::{self, Agent, Class, DeviceAccess, Home, Mesh, Message, Ring, Stop};
use super::port::Port;
use super::report::{Report, ToBoxes};
use super::write_cache::{self, WriteCache};
use super::{Boxes, Tiles};

/// The bits of an address within a line.
pub(super) const LINE_BITS: u8 = 6;
/// MISC, and its bits (table 5-19).
const MISC: u8 = 0x39;
const SILENT_EVICTION: u8 = 0x01;
const ALIASING: u8 = 0x02;
const OWNERSHIP_OF_SHARED: u8 = 0x08;

/// The mesh, the agents at it, and what is between it and devices.
#[derive(Debug)]
pub(super) struct Fabric {
    pub(super) mesh: Mesh,
    pub(super) homes: Homes,
    pub(super) port: Port,
    pub(super) cache: WriteCache,
}

impl Fabric {
    pub(super) fn new() -> Fabric {
        Fabric { mesh: Mesh::new(), homes: Homes::new(), port: Port::new(), cache: WriteCache::new() }
    }

    pub(super) fn footprint(&self) -> usize {
        self.mesh.footprint() + self.homes.footprint() + self.cache.footprint()
    }
}

/// A request on its way.
pub(super) struct Flow<'a> {
    report: ToBoxes<'a>,
    fabric: MutexGuard<'a, Fabric>,
    /// The agent that has its line, and where it is.
    home: u8,
    cha: Option<Stop>,
    /// It, and the controllers of the line's memory.
    of_line: Home,
    /// What its data for a device are.
    class: Class,
}

/// What the fabric did for a device.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Served {
    /// The clocks until all was done.
    pub(super) clocks: u64,
    /// The IRP owned the line already.
    pub(super) owned: bool,
}

/// How far a request has gone.
#[derive(Clone, Copy, Debug)]
struct Gone {
    /// When the agent took it into its table.
    accepted: u64,
    /// When the agent sent its last message of it.
    sent: u64,
    /// When its last message is there.
    end: u64,
}

/// Where a message between an agent and memory goes.
#[derive(Clone, Copy, Debug)]
struct Ends {
    cha: Option<Stop>,
    memory: Option<Stop>,
}

impl<'a> Flow<'a> {
    pub(super) fn new(boxes: &'a Boxes, of_line: Home, class: Class) -> Flow<'a> {
        let (home, cha) = (of_line.cha, mesh::tile(of_line.cha));
        Flow { report: ToBoxes::new(boxes), fabric: boxes.fabric.lock(), home, cha, of_line, class }
    }

    /// The tiles to interrupt.
    pub(super) fn tiles(&self) -> Tiles {
        self.report.tiles
    }

    fn now(&self) -> u64 {
        self.report.boxes.total(Domain::Uclk)
    }

    fn ends(&self) -> Ends {
        Ends { cha: self.cha, memory: self.of_line.memory }
    }

    /// Counts `amount` of the agent's events.
    fn count(&mut self, select: u8, umask: u8, amount: u64) {
        if let Some(unit) = UnitId::new(Kind::Cha, self.home) {
            self.report.count(unit, select, umask, amount);
        }
    }

    fn transact(&mut self, transaction: &Transaction, clocks: u64) {
        self.report.tiles |= self.report.boxes.transact(self.home, transaction, Stage::Served { clocks: clocks.max(1) }).1;
    }

    /// `message` sets out at `time`. Returns when it is there.
    pub(super) fn carry(&mut self, message: &Message, time: u64) -> u64 {
        self.carry_on(message, time).1
    }

    /// The same. Returns when it enters the mesh, and when it is there.
    #[inline(always)]
    fn carry_on(&mut self, message: &Message, time: u64) -> (u64, u64) {
        let devices = Stop::of_devices();
        if Some(message.from) == devices || Some(message.to) == devices {
            return self.carry_for_device(message, time);
        }
        (time, self.fabric.mesh.carry(message, time, &mut self.report))
    }

    /// The same of a message from or to M2PCIe.
    #[cold]
    fn carry_for_device(&mut self, message: &Message, time: u64) -> (u64, u64) {
        let (fabric, report, devices) = (&mut *self.fabric, &mut self.report, Stop::of_devices());
        let sets_out = if Some(message.from) == devices { fabric.port.send(message, time, report) } else { time };
        let there = fabric.mesh.carry(message, sets_out, report);
        if Some(message.to) == devices {
            mesh::count(message, self.class, |unit, select, umask| report.count(unit, select, umask, 1));
            fabric.port.receive(message, self.class, there, report);
        }
        (sets_out, there)
    }

    /// Something passes the agent.
    fn pass(&mut self, queue: Queue, arrives: u64, needs: &Needs) -> u64 {
        let (report, unit) = (&mut self.report, UnitId::new(Kind::Cha, self.home));
        self.fabric.homes.pass(self.home, queue, arrives, needs, |select, umask, amount| {
            if let Some(unit) = unit {
                report.count(unit, select, umask, amount);
            }
        })
    }

    /// The agent sends `message`, for which it has `credit`, at `time`.
    fn send(&mut self, message: &Message, credit: Credit, time: u64) -> u64 {
        let there = self.carry(message, time);
        // A credit comes back from where the message went, a place in a queue is free when it has left.
        let way = message.clocks();
        let until = if matches!(credit, Credit::Ak | Credit::Iv) { there.saturating_sub(way) } else { there.saturating_add(way) };
        self.fabric.homes.hold(self.home, credit, until);
        there
    }

    /// What the agent needs to send `message`, which is no answer to memory.
    fn credit(&self, message: &Message) -> Credit {
        match (message.ring, self.class) {
            (Ring::Ad, _) => Credit::AdRequest,
            (Ring::Ak, _) => Credit::Ak,
            (Ring::Iv, _) => Credit::Iv,
            (Ring::Bl, _) if Some(message.to) != Stop::of_devices() => Credit::BlWriteBack,
            (Ring::Bl, Class::Standard) => Credit::BlStandard,
            (Ring::Bl, _) => Credit::BlBypass,
        }
    }

    /// A snoop of the tile that the filter names, and its answer: data if it has the line modified. Returns when that is there.
    ///
    /// The mesh carries messages in the order of requests. If snoops waited there for messages before them, each request of a burst would wait
    /// until the one before is done. So the agent adds up the lengths of their ways alone.
    fn snoop(&mut self, holds: &Holds, time: u64) -> u64 {
        let (Some(cha), Some(tile)) = (self.ends().cha, mesh::tile(holds.tile)) else { return time };
        let snoop = Message { from: cha, agent: Agent::Home, to: tile, ring: Ring::Iv };
        let there = self.send(&snoop, Credit::Iv, time);
        let ring = if holds.state == FilterState::Modified { Ring::Bl } else { Ring::Ak };
        self.carry(&Message { from: tile, agent: Agent::Cores, to: cha, ring }, there);
        time.saturating_add(2 * snoop.clocks())
    }

    /// An answer is there at `time`, and makes the agent send to memory.
    fn answer_memory(&mut self, ring: Ring, credit: Credit, queue: Queue, time: u64, line: Option<u64>) -> u64 {
        let Ends { cha: Some(cha), memory: Some(memory) } = self.ends() else { return time };
        let time = self.pass(queue, time, &Needs { credit: Some(credit), line: line.map(|line| (line, Some(Seeks::Clean))) });
        let message = Message { from: cha, agent: Agent::Home, to: memory, ring };
        self.send(&message, credit, time);
        time.saturating_add(message.clocks())
    }

    /// The snoop filter needs the place of `victim`, from `time` on: its tile is asked for it, and modified data go to memory.
    fn evict(&mut self, victim: &Holds, time: u64) {
        let mut end = self.snoop(victim, time);
        if victim.state == FilterState::Modified {
            end = self.answer_memory(Ring::Bl, Credit::BlWriteBack, Queue::Snooped, end, None);
        } else {
            end = self.pass(Queue::Snooped, end, &Needs::default());
        }
        self.fabric.homes.evicts(self.home, end);
        self.fabric.homes.stay(self.home, victim.line, end);
        let eviction = Transaction { source: Source::Eviction, hit: true, lookup: Lookup::Other, ..Transaction::default() };
        self.transact(&eviction, end - time);
    }

    /// The MCDRAM controller gives up `line`, and asks from `time` on whether a tile has it modified.
    fn memory_snoops(&mut self, line: u64, time: u64) {
        let Ends { cha: Some(cha), memory: Some(memory) } = self.ends() else { return };
        let asking = Message { from: memory, agent: Agent::Home, to: cha, ring: Ring::Ad };
        self.carry(&asking, time);
        let arrives = time.saturating_add(asking.clocks());
        let found = self.fabric.homes.filter.look_up(self.home, line);
        let end = match found.filter(|found| found.state != FilterState::Shared) {
            None => self.answer_memory(Ring::Ad, Credit::AdResponse, Queue::Ipq, arrives, Some(line)),
            Some(holds) => {
                let passed = self.pass(Queue::Ipq, arrives, &Needs { credit: Some(Credit::Iv), line: Some((line, Some(Seeks::Clean))) });
                let answered = self.snoop(&holds, passed);
                let (ring, credit) = match holds.state {
                    FilterState::Modified => (Ring::Bl, Credit::BlResponse),
                    _ => (Ring::Ad, Credit::AdResponse),
                };
                self.answer_memory(ring, credit, Queue::Snooped, answered, None)
            }
        };
        self.fabric.homes.filter.change(self.home, line, 0, Seeks::Clean);
        self.fabric.homes.stay(self.home, line, end);
        let state = found.map_or(FilterState::Invalid, |found| found.state);
        let snoop =
            Transaction { source: Source::Ipq, hit: found.is_some(), lookup: Lookup::ExternalSnoop, state, ..Transaction::default() };
        self.transact(&snoop, end.saturating_sub(arrives));
    }

    /// The rest of a request's messages, from `time` on. The agent's first one waits in `queue` for what it `needs`; the others follow answers.
    fn go_on(&mut self, messages: impl Iterator<Item = Message>, mut queue: Queue, mut needs: Needs, time: u64) -> Gone {
        let cha = self.ends().cha;
        let mut gone = Gone { accepted: time, sent: time, end: time };
        for message in messages {
            if Some(message.from) == cha && message.agent == Agent::Home {
                let credit = self.credit(&message);
                let passed = self.pass(queue, gone.end, &Needs { credit: Some(credit), ..needs });
                if !queue.is_of_answers() {
                    gone.accepted = passed;
                }
                (queue, needs) = (Queue::Ismq, Needs::default());
                gone.sent = passed;
                gone.end = self.send(&message, credit, passed);
            } else {
                gone.end = self.carry(&message, gone.end);
            }
        }
        gone
    }

    /// The same, after a snoop of the tile that the filter names.
    fn go_on_after_snoop(&mut self, messages: impl Iterator<Item = Message>, holds: &Holds, queue: Queue, needs: Needs, time: u64) -> Gone {
        let accepted = self.pass(queue, time, &Needs { credit: Some(Credit::Iv), ..needs });
        let answered = self.snoop(holds, accepted);
        Gone { accepted, ..self.go_on(messages, Queue::Snooped, Needs::default(), answered) }
    }

    /// The same, after a snoop of the IRP, which owns the line as far as the agent knows.
    fn go_on_after_device(&mut self, messages: impl Iterator<Item = Message>, kind: u8, line: u64, needs: Needs, time: u64) -> Gone {
        // A line that is on its way back has no entry in the table yet.
        let is_coming = self.fabric.cache.owns(line, time).unwrap_or(false);
        let line_needed = needs.line.filter(|_| !is_coming);
        let accepted = self.pass(Queue::Irq, time, &Needs { credit: Some(Credit::Iv), line: line_needed });
        if self.fabric.cache.owns(line, accepted).is_none() {
            // The request waited until the data were back.
            return Gone { accepted, ..self.go_on(messages, Queue::Snooped, Needs::default(), accepted) };
        }
        let answered = self.snoop_device(line, kind, accepted);
        Gone { accepted, ..self.go_on(messages, Queue::Snooped, Needs::default(), answered) }
    }

    /// The IRP is snooped for `line`, and answers. Returns when the answer is there, by the lengths of the ways as for a tile.
    fn snoop_device(&mut self, line: u64, kind: u8, time: u64) -> u64 {
        let (Some(cha), Some(devices), Some(irp)) = (self.ends().cha, Stop::of_devices(), UnitId::new(Kind::Irp, 0)) else { return time };
        let snoop = Message { from: cha, agent: Agent::Home, to: devices, ring: Ring::Iv };
        self.send(&snoop, Credit::Iv, time);
        let there = time.saturating_add(snoop.clocks());
        let answer = self.fabric.cache.snoop(line, there);
        let (sets_out, _) = self.carry_on(&Message { from: devices, agent: Agent::Home, to: cha, ring: Ring::Ak }, there);
        self.report.count(irp, mesh::SNOOP_ANSWERS, answer as u8 | kind, 1);
        self.report.count(irp, mesh::WRITE_CACHE.0, mesh::SNOOPS, sets_out.saturating_sub(there));
        there.saturating_add(snoop.clocks())
    }

    /// A tile's request. Its transaction at the agent is reported apart.
    pub(super) fn request(&mut self, request: &Request, tile: u8) {
        let of_line = self.of_line;
        let mut messages = mesh::steps(request, tile, &of_line);
        let Some(asking) = messages.next() else { return };
        let line = request.physical >> LINE_BITS;
        let now = self.now();
        let arrives = self.carry(&asking, now);
        let seeks = Seeks::of(request.kind).filter(|_| request.supplier != Supplier::Device);
        let needs = Needs { credit: None, line: Some((line, seeks)) };
        let before = self.fabric.homes.filter.look_up(self.home, line);
        let of_device = seeks.filter(|_| self.fabric.cache.owns(line, arrives).is_some());
        let gone = match (of_device, before.filter(|before| is_silent(request, seeks, before, tile))) {
            (Some(seeks), _) => self.go_on_after_device(messages, write_cache::kind(request.kind, seeks), line, needs, arrives),
            (None, Some(holds)) => {
                self.count(MISC, SILENT_EVICTION, 1);
                self.go_on_after_snoop(messages, &holds, Queue::Irq, needs, arrives)
            }
            (None, None) => self.go_on(messages, Queue::Irq, needs, arrives),
        };
        match (seeks, before.map(|before| before.state)) {
            (Some(Seeks::Own), Some(FilterState::Shared)) => self.count(MISC, OWNERSHIP_OF_SHARED, 1),
            (Some(Seeks::Stream), Some(FilterState::Modified)) => self.count(MISC, ALIASING, 1),
            _ => {}
        }
        self.fabric.homes.stay(self.home, line, gone.end);
        let victim = seeks.and_then(|seeks| self.fabric.homes.filter.change(self.home, line, tile, seeks));
        if let Some(victim) = victim {
            self.evict(&victim, gone.accepted);
        }
        if let Some(displaced) = request.displaced {
            // The mesh carries messages in the order of requests, so the controller asks when the request sets out.
            self.memory_snoops(displaced >> LINE_BITS, now);
        }
    }

    /// A device's request, for `physical` if that is known, which a tile has modified if `hit`.
    pub(super) fn device(&mut self, access: DeviceAccess, physical: Option<u64>, hit: bool) -> Served {
        let now = self.now();
        let line = physical.map(|physical| physical >> LINE_BITS);
        if let Some(line) = line.filter(|_| access.writes())
            && let Some(granted) = self.fabric.cache.granted(line)
        {
            let end = self.write_back(line, granted.max(now));
            return Served { clocks: end.saturating_sub(now), owned: true };
        }
        let of_line = self.of_line;
        let mut messages = access.steps(&of_line);
        let Some(asking) = messages.next() else { return Served::default() };
        let arrives = self.carry(&asking, now);
        // A read leaves the line as it is (PCIRdCur).
        let seeks = (access != DeviceAccess::Read).then_some(Seeks::Stream);
        let needs = Needs { credit: None, line: line.map(|line| (line, seeks)) };
        let holds = line.filter(|_| hit).and_then(|line| self.fabric.homes.filter.look_up(self.home, line));
        // The holder of a modified line answers both the agent and who asks. Then memory is not read.
        let data = holds.filter(|_| access == DeviceAccess::Read).and_then(|holds| mesh::from_tile(holds.tile));
        let memory = self.ends().memory.filter(|_| data.is_some());
        let messages = messages.filter(|message| memory.is_none_or(|memory| message.from != memory && message.to != memory));
        let gone = match holds {
            Some(holds) => self.go_on_after_snoop(messages, &holds, Queue::Prq, needs, arrives),
            None => self.go_on(messages, Queue::Prq, needs, arrives),
        };
        if let Some(data) = data {
            self.carry(&data, gone.accepted);
        }
        if let Some(line) = line {
            let is_prefetch = access == DeviceAccess::Prefetch;
            // A line that a device asked for ahead is granted when the grant sets out: a snoop may overtake it.
            self.fabric.homes.stay(self.home, line, if is_prefetch { gone.sent } else { gone.end });
            seeks.and_then(|seeks| self.fabric.homes.filter.change(self.home, line, 0, seeks));
            if is_prefetch {
                self.fabric.cache.ask(line, gone.accepted, gone.end);
            }
        }
        Served { clocks: gone.end.saturating_sub(now), owned: false }
    }

    /// A device's data for `line`, which the IRP owns, go to memory from `time` on. Returns when they are there.
    fn write_back(&mut self, line: u64, time: u64) -> u64 {
        let of_line = self.of_line;
        let mut messages = DeviceAccess::write_back(&of_line);
        let Some(data) = messages.next() else { return time };
        let (leaves, arrives) = self.carry_on(&data, time);
        self.fabric.cache.write(line, time, leaves, arrives);
        let gone = self.go_on(messages, Queue::Prq, Needs { credit: None, line: Some((line, None)) }, arrives);
        self.fabric.homes.stay(self.home, line, gone.end);
        gone.end
    }
}

/// Whether the tile that the filter names no longer has the line: it dropped it without telling the agent.
fn is_silent(request: &Request, seeks: Option<Seeks>, before: &Holds, tile: u8) -> bool {
    seeks.is_some_and(Seeks::allocates)
        && before.state == FilterState::Exclusive
        && before.tile != tile
        && matches!(request.supplier, Supplier::Memory { .. } | Supplier::NearMemory { .. })
}
