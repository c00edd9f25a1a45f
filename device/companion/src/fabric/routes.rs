//! The links between the nodes of a machine, and the ways that packets take.

/// Maximum number of nodes that are joined by HyperTransport links: the K8's routing table has as many entries.
pub const NODES: usize = 8;
/// HyperTransport links per node.
pub const NODE_LINKS: usize = 3;

/// One end of a link: a node, and the number of the link there.
pub type LinkEnd = (usize, usize);

/// The links between the packages of a machine, and the way from each package to each other one.
///
/// ```
/// use vm_pmu::companion::{Builder, Routes};
///
/// // Four nodes in a square, in place of the ladder with rungs that is the default.
/// let square = Routes::of(&[((0, 0), (1, 0)), ((1, 1), (2, 1)), ((2, 0), (3, 0)), ((3, 1), (0, 1))]);
/// assert_eq!(square.distance(0, 2), Some(2));
/// // Packets from node 0 to node 2 go by node 3.
/// let companion = Builder::new("k8").unwrap().packages(4).routes(square.by(0, 2, 1)).build();
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Routes {
    /// The other end of each link of each node.
    ends: [[Option<LinkEnd>; NODE_LINKS]; NODES],
    /// The link that each node takes to each other one.
    table: [[Option<usize>; NODES]; NODES],
}

impl Routes {
    /// Returns the routes of up to eight nodes in a ladder: nodes 2n and 2n + 1 are joined by link 0, and link 2 of a node leads to link 1
    /// of the node two numbers on. So two nodes are joined by link 0.
    #[must_use]
    pub fn ladder(nodes: usize) -> Routes {
        let mut ends = [[None; NODE_LINKS]; NODES];
        for node in 0..nodes.min(NODES) {
            if node % 2 == 0 && node + 1 < nodes {
                join(&mut ends, (node, 0), (node + 1, 0));
            }
            if node + 2 < nodes.min(NODES) {
                join(&mut ends, (node, 2), (node + 2, 1));
            }
        }
        Routes { ends, table: [[None; NODES]; NODES] }.shortest()
    }

    /// Returns the routes of nodes joined by these links, each given by its two ends: node and number. Links with an end that does not
    /// exist or is taken already are left out. Packets take a shortest way; of several, the one by the link of the smallest number.
    #[must_use]
    pub fn of(links: &[(LinkEnd, LinkEnd)]) -> Routes {
        let mut ends = [[None; NODE_LINKS]; NODES];
        links.iter().for_each(|(one, other)| join(&mut ends, *one, *other));
        Routes { ends, table: [[None; NODES]; NODES] }.shortest()
    }

    /// Returns the same links, where packets from node `from` to node `to` leave by `link`. It is ignored if that link leads nowhere.
    #[must_use]
    pub fn by(mut self, from: usize, to: usize, link: usize) -> Routes {
        let leads = self.end((from, link)).is_some();
        if let Some(entry) = self.table.get_mut(from).and_then(|table| table.get_mut(to)).filter(|_| leads) {
            *entry = Some(link);
        }
        self
    }

    /// Returns the number of links on the way from one node to another; `None` if no way leads there.
    #[must_use]
    pub fn distance(&self, from: usize, to: usize) -> Option<usize> {
        let (mut at, mut hops) = (from, 0);
        while at != to && hops < NODES {
            at = self.end((at, self.link(at, to)?))?.0;
            hops += 1;
        }
        (at == to).then_some(hops)
    }

    pub(super) fn end(&self, (node, link): LinkEnd) -> Option<LinkEnd> {
        self.ends.get(node)?.get(link).copied().flatten()
    }

    /// Returns the link by which `from` sends packets for `to`.
    pub(super) fn link(&self, from: usize, to: usize) -> Option<usize> {
        self.table.get(from)?.get(to).copied().flatten()
    }

    /// Returns the link that leads to devices: the first that leads to no node.
    pub(super) fn devices_link(&self, node: usize) -> Option<usize> {
        self.ends.get(node)?.iter().position(Option::is_none)
    }

    /// Fills the table with shortest ways.
    fn shortest(mut self) -> Routes {
        for to in 0..NODES {
            let mut far = [usize::MAX; NODES];
            if let Some(here) = far.get_mut(to) {
                *here = 0;
            }
            // No way is longer than the number of nodes.
            for _ in 1..NODES {
                for from in 0..NODES {
                    let hops = |link: usize| {
                        self.end((from, link)).and_then(|(next, _)| far.get(next)).map_or(usize::MAX, |far| far.saturating_add(1))
                    };
                    let best = (0..NODE_LINKS).map(|link| (hops(link), link)).min().filter(|(hops, _)| *hops != usize::MAX);
                    if let (Some((hops, link)), Some(known), Some(entry)) =
                        (best, far.get_mut(from), self.table.get_mut(from).and_then(|table| table.get_mut(to)))
                        && hops < *known
                    {
                        (*known, *entry) = (hops, Some(link));
                    }
                }
            }
        }
        self
    }
}

/// Joins two ends, if both are there and free.
fn join(ends: &mut [[Option<LinkEnd>; NODE_LINKS]; NODES], one: LinkEnd, other: LinkEnd) {
    let free = |ends: &[[Option<LinkEnd>; NODE_LINKS]; NODES], (node, link): LinkEnd| {
        ends.get(node).and_then(|links| links.get(link)) == Some(&None)
    };
    if one.0 == other.0 || !free(ends, one) || !free(ends, other) {
        return;
    }
    for ((node, link), to) in [(one, other), (other, one)] {
        if let Some(end) = ends.get_mut(node).and_then(|links| links.get_mut(link)) {
            *end = Some(to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ladder_of_eight_has_its_ends_four_links_apart() {
        let routes = Routes::ladder(8);
        // Along the side, and over a rung: 0, 2, 4, 6, 7.
        assert_eq!([1, 2, 3, 6, 7].map(|to| routes.distance(0, to)), [1, 1, 2, 3, 4].map(Some));
        // The ends have a link for devices, the middle none.
        assert_eq!([0, 2, 6].map(|node| routes.devices_link(node)), [Some(1), None, Some(2)]);
    }

    #[test]
    fn two_nodes_are_joined_by_link_0() {
        let routes = Routes::ladder(2);
        assert_eq!((routes.link(0, 1), routes.link(1, 0), routes.distance(0, 2)), (Some(0), Some(0), None));
        assert_eq!(Routes::ladder(1).devices_link(0), Some(0));
    }

    #[test]
    fn a_link_with_an_end_that_is_taken_is_left_out() {
        let routes = Routes::of(&[((0, 0), (1, 0)), ((0, 0), (2, 0)), ((3, 3), (2, 1)), ((4, 0), (4, 1))]);
        assert_eq!([1, 2, 3].map(|to| routes.distance(0, to)), [Some(1), None, None]);
        assert_eq!(routes.devices_link(4), Some(0));
    }

    #[test]
    fn a_way_in_a_circle_leads_nowhere() {
        let routes = Routes::ladder(4).by(0, 3, 0).by(1, 3, 0);
        assert_eq!((routes.distance(0, 3), routes.distance(2, 3)), (None, Some(1)));
    }
}
