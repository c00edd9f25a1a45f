//! The pipeline of a Montecito, as the code that is common to all parts sees it.

use super::{EVENTS, MontecitoPipeline, QUEUE, QUEUE_STATES, STATES};
use crate::bus_traffic::{BusTraffic, Lines};
use crate::caches::answered_snoops::Snoop;
use crate::instruction::Instruction;
use crate::pipeline::part::{Demanded, Part};
use crate::pipeline::sharing::Turn;
use crate::pipeline::{CycleStates, Findings, Source, ThirdLevelMiss, ia64};
use crate::tally::Tally;
use vm_pmu_arch::feed::Signal;

impl Part for MontecitoPipeline {
    const STATES: &'static [Signal] = &STATES;
    const EVENTS: &'static [Signal] = &EVENTS;
    const IS_IA64: bool = true;
    const JOINS_ANSWERS: bool = true;

    fn supplies(signal: Signal) -> bool {
        QUEUE.contains(&signal) || ia64::bus::supplies(signal)
    }

    fn sync(&mut self, demanded: &Demanded<'_>) {
        self.sync_bus(demanded.wants);
        self.observe(demanded.any(QUEUE.iter().chain(&QUEUE_STATES)));
        self.track.sync(demanded.runs);
    }

    fn execute(&mut self, instruction: &Instruction<'_>, found: &Findings, _turn: Turn<'_>, tally: &mut Tally) {
        self.execute(instruction, found, tally);
    }

    #[inline]
    fn next(&mut self, wanted: u64) -> Option<(u64, CycleStates)> {
        let (clocks, states) = self.next(wanted)?;
        Some((clocks, CycleStates::of(states, &STATES)))
    }

    fn last(&self) -> Option<CycleStates> {
        Some(CycleStates::of(self.track.last?, &STATES))
    }

    fn carries(&mut self, carried: BusTraffic, lines: Lines) -> BusTraffic {
        carried.at(self.bus_mut().know(lines))
    }

    fn met(&mut self, snoop: Snoop) -> u64 {
        self.met(snoop).stalled
    }

    #[inline]
    fn settle_bus(&mut self, tally: &mut Tally) {
        self.settle_bus(tally);
    }

    fn end_stream(&mut self, tally: &mut Tally) {
        self.front.end_stream(tally);
    }

    fn stream_has_gone_on(&self) -> bool {
        self.front.stream_has_gone_on()
    }

    fn prefetch_code(&mut self, line: u64, from: Option<(Source, u32)>, streams: bool, tally: &mut Tally) {
        self.prefetch_code(line, from, streams, tally);
    }

    fn watch(&mut self, watched: bool) {
        self.watch(watched);
    }

    fn report_at_most(&mut self, cycles: Option<u64>) {
        self.report_at_most(cycles);
    }

    fn third_level_miss(&mut self) -> Option<ThirdLevelMiss> {
        self.third_level_miss()
    }

    fn idle(&self) -> Option<u64> {
        Some(self.idle())
    }

    fn resume(&mut self, background: u64, tally: &mut Tally) {
        self.resume(background, tally);
    }
}
