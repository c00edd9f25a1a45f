//! Traffic of nodes over HyperTransport links, to each other and to devices.
//!
//! A packet is a command and perhaps data, in doublewords (HyperTransport I/O Link Specification, chapter 3: requests with an address take
//! eight bytes, responses four, data follow their command). The receiver of a packet releases its buffers with a doubleword of its own,
//! which covers both buffers of one packet.
//!
//! A transaction of a node on memory (Keltcher and others, IEEE Micro 2003; Conway and Hughes, IEEE Micro 2007; US patent 7,296,122): the
//! request goes to the node that has the memory. That node probes each of the others once. All answer, a read to its source and a write to
//! its target; a node that has the line dirty sends it with its answer. An owner that gives the line tells memory to cancel its read. The
//! target gives the data, or reports completion. In the end the source reports completion to the target.

use core::sync::atomic::Ordering::Relaxed;

use vm_pmu_arch::feed::Signal;

use crate::fabric::routes::{NODE_LINKS, NODES, Routes};
use crate::fabric::{FabricState, System};
use crate::tally::Tally;

/// Doublewords per line.
pub(crate) const LINE: u64 = 16;

/// The signals of each link: commands, data, buffer releases, idle slots.
pub(crate) const OF_LINKS: [[Signal; 4]; NODE_LINKS] = [
    [Signal::Link0Commands, Signal::Link0Data, Signal::Link0Releases, Signal::Link0Idle],
    [Signal::Link1Commands, Signal::Link1Data, Signal::Link1Releases, Signal::Link1Idle],
    [Signal::Link2Commands, Signal::Link2Data, Signal::Link2Releases, Signal::Link2Idle],
];

/// Whether it is a signal of a link.
pub(crate) fn is_of_link(signal: Signal) -> bool {
    OF_LINKS.iter().any(|link| link.contains(&signal))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Packet {
    command: u64,
    data: u64,
}

/// Returns a request or a probe, which has an address.
const fn request(data: u64) -> Packet {
    Packet { command: 2, data }
}

/// Returns a response: data, the answer to a probe, or completion.
const fn response(data: u64) -> Packet {
    Packet { command: 1, data }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transaction {
    pub(crate) source: usize,
    /// The node that has the memory.
    pub(crate) target: usize,
    /// Doublewords that go with the request. If there are any, answers go to the target.
    pub(crate) written: u64,
    /// Doublewords that memory gives, unless an owner gives the line.
    pub(crate) read: u64,
    /// The node of the cache that had the line dirty and gives it.
    pub(crate) owner: Option<usize>,
}

/// A carrier of packets, which also counts them.
struct Carrier<'a> {
    system: &'a System,
    routes: &'a Routes,
    shared: &'a mut FabricState,
    /// The package whose tally this is.
    here: usize,
    tally: &'a mut Tally,
}

impl Carrier<'_> {
    fn count(&mut self, (node, link): (usize, usize), kind: usize, doublewords: u64) {
        let Some(signal) = OF_LINKS.get(link).and_then(|signals| signals.get(kind)) else { return };
        self.system.at(self.shared, self.here, node, self.tally, |_, tally| tally.add(*signal, doublewords));
        if self.system.idle_counted.load(Relaxed) != 0
            && let Some(sent) = self.shared.sent.get_mut(node).and_then(|links| links.get_mut(link))
        {
            *sent = sent.saturating_add(doublewords);
        }
    }

    fn send(&mut self, end: (usize, usize), packet: Packet) {
        self.count(end, 0, packet.command);
        self.count(end, 1, packet.data);
    }

    /// Sends a packet across a link. Returns the node where it arrives.
    fn cross(&mut self, end: (usize, usize), packet: Packet) -> Option<usize> {
        let other = self.routes.end(end)?;
        self.send(end, packet);
        self.count(other, 2, 1);
        Some(other.0)
    }

    fn carry(&mut self, from: usize, to: usize, packet: Packet) {
        let mut at = from;
        for _ in 0..NODES {
            if at == to {
                return;
            }
            let Some(next) = self.routes.link(at, to).and_then(|link| self.cross((at, link), packet)) else { return };
            at = next;
        }
    }

    /// Sends a packet from one node to all others: once on each link, whatever lies behind it.
    fn broadcast(&mut self, from: usize, nodes: usize, packet: Packet) {
        let mut crossed = [[false; NODE_LINKS]; NODES];
        for to in 0..nodes {
            let mut at = from;
            for _ in 0..NODES {
                let Some(link) = self.routes.link(at, to).filter(|_| at != to) else { break };
                let Some((next, _)) = self.routes.end((at, link)) else { break };
                if let Some(crossed) = crossed.get_mut(at).and_then(|links| links.get_mut(link))
                    && !core::mem::replace(crossed, true)
                {
                    self.cross((at, link), packet);
                }
                at = next;
            }
        }
    }

    fn transact(&mut self, transaction: &Transaction, nodes: usize) {
        let Transaction { source, target, written, read, owner } = *transaction;
        self.carry(source, target, request(written));
        self.broadcast(target, nodes, request(0));
        let answered = if written == 0 { source } else { target };
        for node in 0..nodes {
            let data = if owner == Some(node) { LINE } else { 0 };
            self.carry(node, answered, response(data));
        }
        match owner {
            // The memory need not read the line.
            Some(owner) if written == 0 && read != 0 => self.carry(owner, target, response(0)),
            _ => self.carry(target, source, response(read)),
        }
        self.carry(source, target, response(0));
    }
}

impl System {
    /// Whether link traffic is counted, by a follower or by `tally`.
    pub(super) fn counts_links(&self, tally: Option<&Tally>) -> bool {
        self.layout.routes.is_some()
            && (self.linked.load(Relaxed) != 0 || tally.is_some_and(|tally| tally.signals().iter().any(|signal| is_of_link(*signal))))
    }

    /// Calls `work` with the links, if they are counted. The tally is that of package `here`.
    fn by_links(&self, shared: &mut FabricState, here: usize, tally: &mut Tally, work: impl FnOnce(&mut Carrier<'_>)) {
        if let Some(routes) = &self.layout.routes {
            work(&mut Carrier { system: self, routes, shared, here, tally });
        }
    }

    /// Sends the packets of a transaction on memory, in which every cache is probed. The tally is that of its source.
    pub(crate) fn transact(&self, shared: &mut FabricState, transaction: &Transaction, tally: &mut Tally) {
        self.by_links(shared, transaction.source, tally, |carrier| carrier.transact(transaction, self.layout.packages));
    }

    /// Writes a line back from `source` to the memory of `target`, which reports completion; then the source does.
    pub(super) fn write_back(&self, shared: &mut FabricState, source: usize, target: usize, tally: &mut Tally) {
        self.by_links(shared, source, tally, |carrier| {
            carrier.carry(source, target, request(LINE));
            carrier.carry(target, source, response(0));
            carrier.carry(source, target, response(0));
        });
    }

    /// Writes doublewords to devices behind `target`, or reads some, for a core or device of `source`. Data for a device go on to it;
    /// [`answer_device`](System::answer_device) sends these.
    pub(super) fn reach_device(&self, shared: &mut FabricState, source: usize, target: usize, written: u64, read: u64, tally: &mut Tally) {
        self.by_links(shared, source, tally, |carrier| {
            carrier.carry(source, target, request(written));
            if let Some(link) = carrier.routes.devices_link(target) {
                carrier.send((target, link), request(written));
                // The device's answer is taken in.
                carrier.count((target, link), 2, 1);
            }
            carrier.carry(target, source, response(read));
        });
    }

    /// Answers a request of a device behind `package` with `read` doublewords, if it asked for any.
    pub(super) fn answer_device(&self, shared: &mut FabricState, package: usize, read: u64, tally: &mut Tally) {
        self.by_links(shared, package, tally, |carrier| {
            let Some(link) = carrier.routes.devices_link(package) else { return };
            carrier.count((package, link), 2, 1);
            if read != 0 {
                carrier.send((package, link), response(read));
            }
        });
    }

    /// Forgets the doublewords that links of `package` sent, once their idle slots are no longer counted.
    pub(crate) fn forget_sent(&self, package: usize) {
        self.shared.lock().sent.get_mut(package).into_iter().for_each(|links| *links = [0; NODE_LINKS]);
    }

    /// Counts the idle slots of the links of `package`, which could have sent `slots` doublewords since the last call.
    pub(crate) fn idle_links(&self, package: usize, slots: u64, tally: &mut Tally) {
        /// Maximum number of doublewords that a link carries over: more was not sent in this time.
        const MOST_OWED: u64 = 1 << 12;
        let Some(routes) = &self.layout.routes else { return };
        let mut shared = self.shared.lock();
        let Some(sent) = shared.sent.get_mut(package) else { return };
        let to_devices = routes.devices_link(package);
        for (link, (sent, signals)) in sent.iter_mut().zip(&OF_LINKS).enumerate() {
            let idle = slots.saturating_sub(*sent);
            *sent = sent.saturating_sub(slots).min(MOST_OWED);
            if routes.end((package, link)).is_some() || to_devices == Some(link) {
                tally.add(signals[3], idle);
            }
        }
    }
}
