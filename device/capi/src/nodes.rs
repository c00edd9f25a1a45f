//! How the packages of a machine are joined, and which of them has which I/O.

use vm_pmu::companion::{IoRange, LinkEnd, NODE_LINKS, NODES, Routes};

use crate::status::{Failure, argument};

/// The most packages that are joined by HyperTransport links.
pub const VM_PMU_NODES: usize = 8;
/// HyperTransport links of a package.
pub const VM_PMU_NODE_LINKS: usize = 3;
/// The most ranges of I/O: the K8's address map has as many.
pub const VM_PMU_IO_RANGES: usize = 8;

const _: () = assert!(VM_PMU_NODES == NODES && VM_PMU_NODE_LINKS == NODE_LINKS);

/// Physical addresses that are I/O behind a package, on a part that counts I/O by package: the K8.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct VmPmuIoRange {
    /// The first address.
    pub first: u64,
    /// How many bytes.
    pub bytes: u64,
    /// The package that the devices are behind.
    pub package: u32,
    /// Zero.
    pub reserved: u32,
}

/// A HyperTransport link between two packages.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct VmPmuNodeLink {
    /// One package, below VM_PMU_NODES.
    pub package: u8,
    /// The number of the link there, below VM_PMU_NODE_LINKS.
    pub link: u8,
    /// The other package.
    pub other_package: u8,
    /// The number of the link there.
    pub other_link: u8,
}

/// What package `from` sends to package `to` leaves by its link `link`, instead of by a shortest way.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct VmPmuNodeRoute {
    /// The package that sends.
    pub from: u8,
    /// The package that it is for.
    pub to: u8,
    /// The link of `from`, which leads to a package.
    pub link: u8,
    /// Zero.
    pub reserved: u8,
}

/// The range of I/O that the caller means, in a machine of that many packages.
pub(crate) fn io_range(given: &VmPmuIoRange, packages: u32) -> Result<IoRange, Failure> {
    if given.package >= packages {
        return Err(argument(format!("a range of I/O is behind package {}: there are {packages}, from 0 on", given.package)));
    }
    if given.reserved != 0 {
        return Err(argument("a reserved field of VmPmuIoRange is set: it must be zero"));
    }
    let package = usize::try_from(given.package).unwrap_or(usize::MAX);
    Ok(IoRange { package, first: given.first, bytes: given.bytes })
}

/// The two ends of a link.
fn ends(given: &VmPmuNodeLink, packages: u32) -> Result<(LinkEnd, LinkEnd), Failure> {
    let VmPmuNodeLink { package, link, other_package, other_link } = *given;
    let is_there = |package: u8, link: u8| u32::from(package) < packages && usize::from(link) < NODE_LINKS;
    if !is_there(package, link) || !is_there(other_package, other_link) || package == other_package {
        return Err(argument(format!(
            "no link joins link {link} of package {package} to link {other_link} of package {other_package}: there are {packages} packages \
             with {NODE_LINKS} links each, from 0 on"
        )));
    }
    Ok(((package.into(), link.into()), (other_package.into(), other_link.into())))
}

/// The links and the ways that the caller means.
pub(crate) fn routes(links: &[VmPmuNodeLink], ways: &[VmPmuNodeRoute], packages: u32) -> Result<Routes, Failure> {
    let mut joined = Vec::new();
    let mut taken = Vec::new();
    for link in links {
        let (one, other) = ends(link, packages)?;
        for end @ (package, link) in [one, other] {
            if taken.contains(&end) {
                return Err(argument(format!("link {link} of package {package} joins two packages: it can join one")));
            }
            taken.push(end);
        }
        joined.push((one, other));
    }
    let mut routes = Routes::of(&joined);
    for VmPmuNodeRoute { from, to, link, reserved } in ways.iter().copied() {
        if !taken.contains(&(from.into(), link.into())) || u32::from(to) >= packages || reserved != 0 {
            return Err(argument(format!(
                "what package {from} sends to package {to} cannot leave by link {link}: that is none of the links given, or there is no such \
                 package, or the reserved field is set"
            )));
        }
        routes = routes.by(from.into(), to.into(), link.into());
    }
    Ok(routes)
}
