//! What a package answers to a snoop once all of its cores have answered.

use super::line::LineState;
use super::system::System;

/// The answers of the clusters to one snoop, which are asked package by package.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answers {
    package: Option<usize>,
    strongest: LineState,
}

impl Answers {
    /// Those of a snoop that nobody has answered yet.
    pub(super) const NONE: Answers = Answers { package: None, strongest: LineState::Invalid };

    /// A cluster of `package` had the line in this state.
    pub(super) fn take(&mut self, system: &System, package: usize, found: LineState) {
        if self.package != Some(package) {
            self.end(system);
            *self = Answers { package: Some(package), strongest: LineState::Invalid };
        }
        self.strongest = self.strongest.max(found);
    }

    /// The last package has been asked.
    pub(super) fn end(&mut self, system: &System) {
        // Montecito alone counts what both of its cores answer together.
        if !system.profile.pipeline.is_montecito() {
            return;
        }
        let Some(package) = self.package.take() else { return };
        let per_package = system.clusters_per_package;
        for cluster in system.clusters.iter().skip(package * per_package).take(per_package) {
            cluster.lock().mail.sign_off(self.strongest);
        }
    }
}
