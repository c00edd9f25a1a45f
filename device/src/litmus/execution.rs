//! A program that is executed a statement at a time.

use super::run::Run;
use super::{Failure, Litmus, Step};
use crate::irq::InterruptLine;
use crate::topology::Machine;

/// A program on its machine, between two statements: see [`Litmus::begin`].
pub struct Execution<'a> {
    program: &'a Litmus,
    run: Run<'a>,
    place: usize,
}

impl core::fmt::Debug for Execution<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Execution").field("place", &self.place).field("thread", &self.run.current).finish_non_exhaustive()
    }
}

impl Litmus {
    /// A new machine for the program, before its first statement, for who wants to look at it between statements.
    ///
    /// ```
    /// use vm_pmu::litmus::Litmus;
    ///
    /// let text = "title: t\npmu: k8\nsection: s\nwrite PerfCtr0 5\nread PerfCtr0 = 5\n";
    /// let program: Litmus = text.parse().unwrap();
    /// let mut execution = program.begin().unwrap();
    /// execution.step().unwrap();
    /// assert_eq!(execution.machine().thread(0).unwrap().x86().rdpmc(0), Ok(5));
    /// ```
    ///
    /// # Errors
    /// The machine cannot be built, or does not take what the program begins with.
    pub fn begin(&self) -> Result<Execution<'_>, Failure> {
        Ok(Execution { program: self, run: Run::new(self)?, place: 0 })
    }
}

impl<'a> Execution<'a> {
    /// The statement that comes next; `None` at the end.
    #[must_use]
    pub fn next(&self) -> Option<&'a Step> {
        self.program.steps.get(self.place).map(|(_, step)| step)
    }

    /// Executes the next statement. Does nothing at the end.
    ///
    /// # Errors
    /// The machine showed something other than the statement expects.
    pub fn step(&mut self) -> Result<(), Failure> {
        let Some((line, step)) = self.program.steps.get(self.place) else { return Ok(()) };
        self.place += 1;
        self.run.execute(*line, step)
    }

    /// The machine. After [`Step::Save`] it is another one.
    #[must_use]
    pub fn machine(&self) -> &Machine<impl InterruptLine> {
        &self.run.machine
    }

    /// The thread that statements are about.
    #[must_use]
    pub fn thread(&self) -> usize {
        self.run.current
    }

    /// How many statements were executed.
    #[must_use]
    pub fn done(&self) -> usize {
        self.place
    }

    /// How many expectations were checked.
    #[must_use]
    pub fn checked(&self) -> usize {
        self.run.checked
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn statements_that_were_executed_are_counted() {
        let litmus: Litmus = "title: t\npmu: k8\nsection: s\nwrite PerfCtr0 5\nread PerfCtr0 = 5\n".parse().expect("a litmus file");
        let mut execution = litmus.begin().expect("a machine");
        let mut done = Vec::new();
        for _ in 0..3 {
            done.push(execution.done());
            execution.step().expect("it comes true");
        }
        // There are two.
        assert_eq!((done, execution.done()), (alloc::vec![0, 1, 2], 2));
    }

    #[test]
    fn expectations_that_were_checked_are_counted() {
        let text = "title: t\npmu: k8\nsection: s\nwrite PerfCtr0 5\nread PerfCtr0 = 5\nread PerfCtr1 = 0\n";
        let litmus: Litmus = text.parse().expect("a litmus file");
        let mut execution = litmus.begin().expect("a machine");
        let mut checked = Vec::new();
        for _ in 0..3 {
            execution.step().expect("it comes true");
            checked.push(execution.checked());
        }
        assert_eq!(checked, [0, 1, 2]);
    }
}
