//! The placement of the clusters of a machine, and the distances between them.

use vm_pmu_arch::feed::DataSource;

use crate::caches::Ask;
use crate::fabric::io::IoMap;
use crate::fabric::routes::Routes;
use crate::fabric::scope::{Reach, Went};
use crate::fabric::{FabricState, System};
use crate::profile::Fill;
use crate::tally::Tally;
use vm_pmu_arch::die::Die;

/// The composition of a machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) packages: usize,
    /// Clusters per package with threads.
    pub(crate) clusters: usize,
    /// Clusters per package whose cores are off and whose third level is lent to the others.
    pub(crate) lent: usize,
    /// Packages per group; groups are consecutive.
    pub(crate) packages_per_group: usize,
    /// Bytes of physical memory per package; if 0, all memory belongs to the first.
    pub(crate) memory_per_package: u64,
    pub(crate) io: IoMap,
    /// The HyperTransport links between packages, if they are joined by such links.
    pub(crate) routes: Option<Routes>,
    /// The graphics aperture: its first address and its size in bytes.
    pub(crate) aperture: Option<(u64, u64)>,
    /// The configuration of the die, if it is known.
    pub(crate) die: Option<Die>,
}

impl System {
    pub(super) fn package(&self, cluster: usize) -> usize {
        cluster / self.clusters_per_package
    }

    pub(super) fn reach(&self, from: usize, to: usize) -> Reach {
        let group = |package: usize| package / self.layout.packages_per_group.max(1);
        match (from == to, group(from) == group(to)) {
            (true, _) => Reach::Chip,
            (false, true) => Reach::Group,
            (false, false) => Reach::System,
        }
    }

    /// Returns the latency that this distance adds to that within a package.
    pub(super) fn farther(&self, reach: Reach) -> u32 {
        u32::from(match reach {
            Reach::Chip => 0,
            Reach::Group => self.profile.costs.remote,
            Reach::System => self.profile.costs.distant,
        })
    }

    /// Returns the source of a line that cluster `holder` gives to a cluster of `package`, out of the third level if `third`.
    pub(super) fn given(&self, package: usize, holder: usize, third: bool, modified: bool) -> DataSource {
        let told_apart = matches!(self.profile.caches.third, Some((_, Fill::Victims)));
        match self.reach(package, self.package(holder)) {
            Reach::Chip if holder % self.clusters_per_package >= self.layout.clusters => DataSource::LentL3 { modified },
            Reach::Chip if third && told_apart => DataSource::OtherL3 { modified },
            Reach::Chip => DataSource::OtherCore { modified },
            Reach::Group => DataSource::OtherPackage { modified },
            Reach::System => DataSource::DistantPackage { modified },
        }
    }

    /// Records that a request of cluster `from` for line `outer` had to go as far as `needed`. Returns how it went, if that is predicted.
    pub(super) fn went(
        &self,
        shared: &mut FabricState,
        from: usize,
        ask: Ask,
        outer: u64,
        needed: Reach,
        tally: &mut Tally,
    ) -> Option<Went> {
        shared.scopes.get_mut(from).map(|scopes| scopes.request(ask, outer, needed, tally))
    }
}
