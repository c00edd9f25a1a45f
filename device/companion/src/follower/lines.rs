//! Requests of a follower for lines, and lines that others took.

use vm_pmu_arch::feed::{DataSource, Request, RequestKind, Signal};

use crate::caches::answered_snoops::Snooped;
use crate::caches::lost_lines::LostLines;
use crate::caches::{Ask, Departures, Level, Request as Wanted, Served};
use crate::fabric::Response;
use crate::follower::Follower;
use crate::follower::code_prefetch;
use crate::follower::requests;
use crate::pipeline::Continuation;
use crate::translation::{CODE, DATA};

/// Whether no request is made for a line that the cluster has: the data prefetcher checks first.
fn is_cancelled(ask: Ask) -> bool {
    matches!(ask, Ask::Hardware | Ask::HardwareStore)
}

/// The level of the cluster that had a line, the line's source, and the cycles until it arrives.
pub(crate) type Answer = (Option<Level>, DataSource, u32);

impl Follower<'_> {
    /// Requests a first-level line. Returns the level of the cluster that had it, its source, and the cycles until it arrives.
    pub(super) fn ask(&mut self, ask: Ask, inner: u64) -> Answer {
        self.line(ask, inner, None).unwrap_or((None, DataSource::Unknown, 0))
    }

    /// Requests a first-level line. With an `address`, only if the first level has its translation.
    #[inline]
    pub(crate) fn line(&mut self, ask: Ask, inner: u64, address: Option<u64>) -> Option<Answer> {
        let (home, local) = self.home.zip(self.local)?;
        let costs = &self.system.profile.costs;
        // The line of code that is being executed, which reading the mail may drop.
        let executed = self.line;
        let mut out = Departures::default();
        let (served, inner_bits, code_written, held, taken, prefetched, worked, snooped, injected) = {
            let mut cluster = home.lock_for(self.core, self.finder);
            let (worked, snooped) = if cluster.mail.is_empty() { ((0, 0), None) } else { (cluster.mail.worked(), cluster.snooped.take()) };
            if snooped.is_some() {
                cluster.snooped = Some(Snooped::NONE);
            }
            let injected = cluster.mail.injected as u32;
            if ask.is_code() && cluster.mail.code_taken.is_some_and(|line| line == inner >> cluster.inner_bits()) {
                self.tally.add(code_prefetch::conflict(ask), 1);
            }
            if cluster.read_mail(&mut self.tally) {
                self.line = None;
            }
            let taken = cluster.cores.get_mut(self.core).filter(|caches| !caches.taken.is_empty());
            let taken = taken.map(|caches| core::mem::take(&mut caches.taken));
            let served = match address {
                Some(address) => cluster.serve_translated(self.core, ask, inner, (self.thread, address), &mut self.tally, &mut out),
                None => Some(cluster.serve(self.core, ask, inner, &mut self.tally, &mut out)),
            };
            let prefetched = core::mem::take(&mut cluster.prefetched);
            let code_written = core::mem::take(&mut cluster.code_written);
            home.settle(&mut cluster, self.core, &mut self.found);
            self.found.ask(inner);
            if let Some(address) = address.filter(|_| served.is_some()) {
                self.found.translate(local, DATA, address);
            }
            if served == Some(Served::By(Level::First)) {
                match ask {
                    Ask::Load => self.found.serve(local, DATA, inner, false),
                    Ask::Store if !self.found.stores_through() => self.found.serve(local, DATA, inner, true),
                    Ask::Fetch => self.found.serve(local, CODE, inner, false),
                    _ => {}
                }
            }
            (served, cluster.inner_bits(), code_written, cluster.held, taken, prefetched, worked, snooped, injected)
        };
        if (worked != (0, 0) || injected != 0)
            && let Some(pipeline) = self.pipeline()
        {
            pipeline.snooped(worked.0, worked.1);
            pipeline.injected(injected);
        }
        if let Some(snooped) = snooped {
            self.meet(&snooped);
        }
        if let Some(taken) = taken {
            self.lines_taken(&taken, executed);
        }
        let served = served?;
        (self.prefetched, self.went) = (prefetched, None);
        if code_written {
            self.code_written(inner);
        }
        if served == Served::By(Level::First) {
            return Some((Some(Level::First), DataSource::Cache(1), u32::from(costs.first)));
        }
        let answer = match served {
            Served::By(Level::First) => (Some(Level::First), DataSource::Cache(1), u32::from(costs.first)),
            Served::By(Level::Second) => {
                let latency = if ask.is_code() && costs.second_code != 0 { costs.second_code } else { costs.second };
                (Some(Level::Second), DataSource::Cache(2), u32::from(latency))
            }
            Served::By(Level::Third) => (Some(Level::Third), DataSource::Cache(3), u32::from(costs.third)),
            Served::By(Level::Sibling) => (Some(Level::Sibling), DataSource::Cache(1), u32::from(costs.second)),
            Served::Not(request) => {
                let mut shared = self.system.shared.lock();
                let response = self.system.request(&mut shared, self.cluster, ask, request, inner >> inner_bits, &mut self.tally);
                let code_written = {
                    let mut cluster = home.lock_for(self.core, self.finder);
                    cluster.install(self.core, ask, inner, response.state, &mut self.tally, &mut out);
                    let code_written = core::mem::take(&mut cluster.code_written);
                    home.settle(&mut cluster, self.core, &mut self.found);
                    code_written
                };
                if self.requests.wanted {
                    let made = match request {
                        // The cluster had it: only the permission to write was requested.
                        Wanted::Upgrade => Request { supplier: requests::own(held), ..Request::of(requests::kind(ask)) },
                        _ => self.supplied(ask, inner >> inner_bits, &response),
                    };
                    self.keep_requests(Request { latency: response.latency, ..made }, inner >> inner_bits, &out);
                }
                self.system.depart(&mut shared, self.cluster, &mut out, &mut self.tally);
                drop(shared);
                self.went = response.went;
                if code_written {
                    self.code_written(inner);
                }
                return Some((None, response.source, response.latency));
            }
        };
        if self.requests.wanted && !is_cancelled(ask) {
            let request = Request { supplier: requests::own(held), latency: answer.2, ..Request::of(requests::kind(ask)) };
            self.keep_requests(request, inner >> inner_bits, &out);
        }
        if !out.is_empty() {
            self.system.depart(&mut self.system.shared.lock(), self.cluster, &mut out, &mut self.tally);
        }
        Some(answer)
    }

    /// Replays loads and code in flight from first-level lines that other processors took.
    #[cold]
    fn lines_taken(&mut self, taken: &LostLines, executed: Option<(u64, u64)>) {
        let Some(pipeline) = self.pipeline.as_deref_mut().filter(|_| self.pipelined) else { return };
        for (line, code) in taken.all() {
            if *code {
                // The line that is being executed, or the one after it.
                if executed.is_some_and(|(begins, _)| *line == begins || *line == begins.wrapping_add(1)) {
                    pipeline.code_taken(&mut self.tally);
                }
            } else {
                pipeline.data_taken(*line, &mut self.tally);
            }
        }
    }

    /// Returns the request for line `outer` that had this response.
    #[cold]
    fn supplied(&self, ask: Ask, outer: u64, response: &Response) -> Request {
        let (supplier, modified, holder) = self.system.supplier(self.cluster, outer, response);
        let displaced = response.near.displaced.map(|line| line << self.system.profile.caches.outer_line_bits.min(63));
        Request { supplier, snoop: requests::snoop(supplier, modified), holder, displaced, ..Request::of(requests::kind(ask)) }
    }

    /// Keeps a request for line `outer`, and the lines that left for memory.
    #[cold]
    fn keep_requests(&mut self, request: Request, outer: u64, out: &Departures) {
        self.keep_request(request, outer);
        out.all().iter().for_each(|line| self.keep_request(Request::of(RequestKind::WriteBack), *line));
    }

    pub(super) fn keep_request(&mut self, request: Request, outer: u64) {
        let physical = outer << self.system.profile.caches.outer_line_bits.min(63);
        self.requests.push(Request { physical, ..request });
    }

    /// Handles a store that invalidated a line of code. If that line, or the one before it, is being executed, the code is fetched again.
    fn code_written(&mut self, inner: u64) {
        if let Some((line, _)) = self.line
            && (line == inner || line.wrapping_add(1) == inner)
        {
            self.tally.add(Signal::SelfModifyingCodeRestarts, 1);
            self.line = None;
            self.piece.set(None);
            self.continues(Continuation::Restarted);
        }
    }
}
