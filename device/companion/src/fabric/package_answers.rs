//! The answer of a package to a snoop, once all of its cores have answered.

use crate::caches::line::LineState;
use crate::fabric::System;

/// The answers of the clusters to one snoop. Clusters are asked package by package.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answers {
    package: Option<usize>,
    strongest: LineState,
}

impl Answers {
    pub(super) const NONE: Answers = Answers { package: None, strongest: LineState::Invalid };

    /// Records that a cluster of `package` had the line in this state.
    pub(super) fn take(&mut self, system: &System, package: usize, found: LineState) {
        if self.package != Some(package) {
            self.end(system);
            *self = Answers { package: Some(package), strongest: LineState::Invalid };
        }
        self.strongest = self.strongest.max(found);
    }

    /// Finishes the package that was asked last.
    pub(super) fn end(&mut self, system: &System) {
        if !system.profile.pipeline.joins_answers() {
            return;
        }
        let Some(package) = self.package.take() else { return };
        let per_package = system.clusters_per_package;
        for cluster in system.clusters.iter().skip(package * per_package).take(per_package) {
            cluster.lock().mail.sign_off(self.strongest);
        }
    }
}
