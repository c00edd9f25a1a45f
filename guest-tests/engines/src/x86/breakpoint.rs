//! Single steps, and matches of the debug registers, which counters can count whether DR7 enables the breakpoint or not. A match raises no
//! #DB.

use super::flags::{DR7_RESET, TF};
use super::state::Core;
use super::step::Access;

/// Types of breakpoints in DR7. Type 10b, accesses to ports, never matches here.
const EXECUTE: u64 = 0;
const WRITE: u64 = 1;
const READ_WRITE: u64 = 3;

impl Core {
    /// Records whether there is anything to match. The registers after reset name no address that is used.
    pub(crate) fn update_breakpoints(&mut self) {
        self.matching = self.dr[..4].iter().any(|address| *address != 0) || self.dr[7] != DR7_RESET;
    }

    /// The effect of the debug registers and of TF, if it was set before, on an instruction that completes.
    #[cold]
    pub(crate) fn debug(&mut self, traps: bool) {
        // INT n and SYSCALL clear TF before the trap is due; POPF clears it after.
        if traps && (self.rflags & TF != 0 || self.step.branch.is_none()) {
            self.debug_trap = true;
            self.attention = true;
        }
        self.match_breakpoints();
    }

    /// Notes which registers the step that is about to complete matches.
    #[cold]
    pub(crate) fn match_breakpoints(&mut self) {
        if !self.matching {
            return;
        }
        let mut matched = self.execution_matches();
        for access in self.step.accesses() {
            matched |= self.data_matches(access);
        }
        self.step.breakpoints |= matched;
    }

    /// The same for an access that the step has no room to list.
    #[cold]
    pub(crate) fn match_unlisted(&mut self, access: &Access) {
        if self.matching {
            self.step.breakpoints |= self.data_matches(access);
        }
    }

    fn execution_matches(&self) -> u8 {
        let rip = self.step.rip;
        if !self.step.retired() {
            return 0;
        }
        self.matches(|kind, length, address| kind == EXECUTE && length == 1 && address == rip)
    }

    fn data_matches(&self, access: &Access) -> u8 {
        self.matches(|kind, length, address| {
            let first = address & !(length - 1);
            let overlaps = access.address.wrapping_sub(first) < length || first.wrapping_sub(access.address) < u64::from(access.size);
            overlaps && (kind == READ_WRITE || kind == WRITE && access.is_write)
        })
    }

    fn matches(&self, matches: impl Fn(u64, u64, u64) -> bool) -> u8 {
        (0..4)
            .filter(|n| {
                let control = self.dr[7] >> (16 + 4 * n);
                // Of the lengths, 2 is that of 64-bit mode.
                let length = [1, 2, 8, 4][(control >> 2 & 3) as usize];
                matches(control & 3, length, self.dr[*n])
            })
            .fold(0, |set, n| set | 1 << n)
    }
}
