//! Branch ports, and the ends of groups after branches (G1 and G2 of the notes).

use crate::bundle::Template;

/// Returns the taken B ports with that of another instruction, one bit each; `None` if it is taken. A nop takes the lowest port in bundles
/// with one B slot.
pub(in crate::pipeline) fn with_branch(taken: u8, branches: bool, template: Template, slot: u8) -> Option<u8> {
    let bit = match template {
        Template::Bbb | Template::Mbb => 1 << slot.min(2),
        _ if branches => 4,
        _ => 1 << taken.trailing_ones().min(2),
    };
    (taken & bit == 0).then_some(taken | bit)
}

/// Whether the bundle that has been dispersed ends the group (PM11, PI10). `branches`: it ends with a branch other than a nop.
pub(in crate::pipeline) fn ends_behind(template: Template, branches: bool) -> bool {
    match template {
        Template::Mbb | Template::Bbb => true,
        Template::Mib | Template::Mfb | Template::Mmb => branches,
        _ => false,
    }
}
