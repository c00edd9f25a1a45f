//! A part of a program as one of its own.

use alloc::string::ToString;
use alloc::vec::Vec;
use core::ops::Range;

use super::run::Run;
use super::{Beginning, Failure, Litmus, Step};

impl Litmus {
    /// The statements in `range`, counted from 0, as a program that begins with what the machine remembers by then. (Feature `snapshot`.)
    ///
    /// Chips, the steps of whose nests are [`Step::Nest`], begin anew.
    ///
    /// ```
    /// use vm_pmu::litmus::Litmus;
    ///
    /// let text = "title: t\npmu: k8\nsection: s\nwrite PerfCtr0 5\nread PerfCtr0 = 5\n";
    /// let whole: Litmus = text.parse().unwrap();
    /// let last = whole.span(1..2).unwrap();
    /// assert_eq!((last.steps.len(), last.run()), (1, Ok(1)));
    /// ```
    ///
    /// # Errors
    /// A statement before the range fails, or the machine cannot be saved.
    pub fn span(&self, range: Range<usize>) -> Result<Litmus, Failure> {
        let mut run = Run::new(self)?;
        for (line, step) in self.steps.iter().take(range.start) {
            run.execute(*line, step)?;
        }
        let state = run.machine.save().map_err(|error| Failure { line: 0, message: error.to_string() })?;
        let thread = (run.current != 0).then_some(Step::Thread(run.current));
        let inside = self.steps.get(range.start.min(self.steps.len())..range.end.min(self.steps.len())).unwrap_or(&[]);
        let steps: Vec<Step> = thread.into_iter().chain(inside.iter().map(|(_, step)| step.clone())).collect();
        let beginning = Beginning { state, ..self.beginning.clone() };
        Ok(Litmus { beginning, steps: (1..).zip(steps).collect(), ..self.clone() })
    }
}
