//! The words after an event of a box.

use vm_pmu::arch::knl::untile::{ChaFilter0, ChaFilter1, CounterControl, Kind};

use crate::dialect::x86::words::{Limits, Words};
use crate::number;

/// What a box has.
pub(super) const LIMITS: Limits = Limits { bits: 48, any_thread: false };

/// Every modifier, for suggestions.
pub(super) const MODIFIERS: [&str; 16] = [
    "e",
    "edge",
    "i",
    "inv",
    "int",
    "noen",
    "c=1",
    "cmask=1",
    "period=100000",
    "pmc=0",
    "tid=0",
    "state=mes",
    "opc0=0x182",
    "opc1=0x182",
    "nc",
    "isoc",
];
/// What a mistaken modifier of an event without unit masks is answered with.
pub(in super::super) const THERE_ARE: &str =
    "e, i, c=N, int, noen, pmc=N, period=N and, in a CHA, tid=N, state=mes, opc0=N, opc1=N, nc, isoc";

/// What the words ask for.
#[derive(Clone, Debug, Default)]
pub(super) struct BoxWords {
    /// What all x86 parts have.
    pub(super) common: Words,
    /// The counter.
    pub(super) pmc: Option<u32>,
    /// Only what the thread of filter 0 does; with a thread, that one.
    pub(super) by_thread: bool,
    pub(super) thread: Option<u16>,
    /// States of the snoop filter, as filter 0 has them from its bit 18 up.
    pub(super) states: Option<u8>,
    pub(super) opcodes: [Option<u16>; 2],
    pub(super) non_coherent: bool,
    pub(super) isochronous: bool,
}

impl BoxWords {
    /// Takes a modifier; whether it was one of a box of `kind`.
    ///
    /// # Errors
    /// The modifier has no such value.
    pub(super) fn modify(&mut self, word: &str, kind: Kind) -> Result<bool, String> {
        let word = word.to_ascii_lowercase();
        let is_cha = kind == Kind::Cha;
        match word.as_str() {
            // A box knows no privilege levels and no pins.
            "pc" | "nouk" => return Ok(false),
            levels if levels.chars().all(|letter| matches!(letter, 'u' | 'k')) => return Ok(false),
            "tid" if is_cha => self.by_thread = true,
            "nc" if is_cha => self.non_coherent = true,
            "isoc" if is_cha => self.isochronous = true,
            other => match other.split_once('=') {
                Some(("tid", thread)) if is_cha => {
                    let thread = number::parse(thread).and_then(|thread| u16::try_from(thread).ok()).filter(|thread| *thread < 1 << 9);
                    self.thread = Some(thread.ok_or(format!("`{word}` is not a thread: it is tile * 8 + core * 4 + thread, up to 511"))?);
                    self.by_thread = true;
                }
                Some(("state", letters)) if is_cha => {
                    let states = letters.chars().try_fold(0, |bits, letter| Some(bits | 1 << "sem".find(letter)?));
                    self.states = Some(states.ok_or(format!("`{word}` is not a state of the snoop filter: letters are m, e and s"))?);
                }
                Some((key @ ("opc0" | "opc1"), code)) if is_cha => {
                    let code = number::parse(code).and_then(|code| u16::try_from(code).ok()).filter(|code| (1..1 << 10).contains(code));
                    let code = code.ok_or(format!("`{word}` is not an opcode: it is a number from 1 to 0x3ff"))?;
                    self.opcodes[usize::from(key == "opc1")] = Some(code);
                }
                Some(("pmc", pmc)) => {
                    let pmc = number::parse(pmc).and_then(|pmc| u32::try_from(pmc).ok()).filter(|pmc| (*pmc as usize) < kind.counters());
                    let last = kind.counters() - 1;
                    self.pmc = Some(pmc.ok_or(format!("`{word}` is not a counter: there are 0 to {last}"))?);
                }
                _ => return self.common.modify(&word, &LIMITS),
            },
        }
        Ok(true)
    }

    /// Whether filter 1 is asked for something.
    pub(super) fn narrows_requests(&self) -> bool {
        self.opcodes.iter().any(Option::is_some) || self.non_coherent || self.isochronous
    }

    /// The control of the counter.
    pub(super) fn control(&self, select: u8, umask: u8) -> u64 {
        let mut control = CounterControl::default();
        control.set_ev_sel(select);
        control.set_umask(umask);
        control.set_edge_det(self.common.edge);
        control.set_tid_en(self.by_thread);
        control.set_ov_en(self.common.interrupt);
        control.set_en(!self.common.disabled);
        control.set_invert(self.common.invert);
        control.set_thresh(self.common.at_least);
        control.bits()
    }

    /// Its fields of filter 0, in addition to those that others have set.
    ///
    /// # Errors
    /// They have said something else.
    pub(super) fn fill_filter0(&self, filter: &mut Option<u64>, states: Option<u8>) -> Result<(), String> {
        if self.thread.is_none() && states.is_none() {
            return Ok(());
        }
        let mut register = ChaFilter0::written(filter.unwrap_or(0));
        if let Some(thread) = self.thread {
            let (of_tile, tile) = ((thread & 7) as u8, (thread >> 3) as u8);
            if filter.is_some_and(|before| before & 0x1ff != 0 && before & 0x1ff != u64::from(thread)) {
                return Err("the events of a CHA share filter 0, which names one thread".to_owned());
            }
            register.set_thread_id(of_tile);
            register.set_tile_id(tile);
        }
        if let Some(states) = states {
            let before = filter.unwrap_or(0) >> 18 & 7;
            if before != 0 && before != u64::from(states) {
                return Err("the events of a CHA share filter 0, which has the states for all of them".to_owned());
            }
            register.set_sf_s(states & 1 != 0);
            register.set_sf_e(states & 2 != 0);
            register.set_sf_m(states & 4 != 0);
        }
        *filter = Some(register.bits());
        Ok(())
    }

    /// What it has filter 1 say: the three bits that table 1-2 wants always, and the opcodes, or every opcode.
    pub(super) fn filter1(&self) -> u64 {
        let mut filter = ChaFilter1::default();
        filter.set_remote_node(true);
        filter.set_local_node(true);
        filter.set_not_near_memory(true);
        let [first, second] = self.opcodes;
        filter.set_all_opcodes(first.is_none() && second.is_none());
        filter.set_opcode0(first.unwrap_or(0));
        filter.set_opcode1(second.unwrap_or(0));
        filter.set_non_coherent(self.non_coherent);
        filter.set_isochronous(self.isochronous);
        filter.bits()
    }

    /// The words that no register of the counter has.
    pub(super) fn suffix(&self) -> String {
        let mut text = String::new();
        if let Some(thread) = self.thread {
            text.push_str(&format!(":tid={thread:#x}"));
        }
        if let Some(states) = self.states {
            let letters: String =
                ['m', 'e', 's'].into_iter().zip([4, 2, 1]).filter(|(_, bit)| states & bit != 0).map(|(letter, _)| letter).collect();
            text.push_str(&format!(":state={letters}"));
        }
        for (key, code) in ["opc0", "opc1"].into_iter().zip(self.opcodes) {
            if let Some(code) = code {
                text.push_str(&format!(":{key}={code:#x}"));
            }
        }
        for (is_set, word) in [(self.non_coherent, ":nc"), (self.isochronous, ":isoc")] {
            text.push_str(if is_set { word } else { "" });
        }
        if let Some(period) = self.common.period {
            text.push_str(&format!(":period={period}"));
        }
        text
    }
}
