//! Events that cannot be counted together: why, and groups of those that can.

use vm_pmu::arch::registry::Part;

use crate::dialect::{self, Programming};
use crate::error::Error;

/// Events that are counted at once.
#[derive(Clone, Debug)]
pub struct Group {
    /// Their places among those that were asked for.
    pub members: Vec<usize>,
    /// How they are counted.
    pub program: Vec<Programming>,
    /// Why the first of them is not in an earlier group.
    pub apart: Option<String>,
}

/// Spreads events over groups that can each be counted at once: an event is in the first group that takes it.
///
/// ```
/// use vm_pmu::Part;
/// use vm_pmu_lab::commands::groups::spread;
///
/// let part = Part::named("k8").unwrap();
/// let groups = spread(part, &["0x76", "0xc0", "0xc1", "0xc2", "0xc4"]).unwrap();
/// assert_eq!(groups.iter().map(|group| group.members.clone()).collect::<Vec<_>>(), [vec![0, 1, 2, 3], vec![4]]);
/// ```
///
/// # Errors
/// An event can be counted neither alone nor beside any other.
pub fn spread(part: Part, events: &[impl AsRef<str>]) -> Result<Vec<Group>, Error> {
    let mut groups: Vec<Group> = Vec::new();
    // Some events need another beside them: they come when the others have their places.
    let (alone, other): (Vec<usize>, Vec<usize>) = (0..events.len()).partition(|place| program(part, events, &[*place]).is_ok());
    for place in alone.into_iter().chain(other) {
        let with = |group: &Group| {
            let mut members = [group.members.as_slice(), &[place]].concat();
            members.sort_unstable();
            members
        };
        let room = groups.iter().enumerate().find_map(|(at, group)| Some((at, program(part, events, &with(group)).ok()?)));
        match room {
            Some((at, program)) => {
                if let Some(group) = groups.get_mut(at) {
                    group.members = with(group);
                    group.program = program;
                }
            }
            None => {
                let apart = groups.last().and_then(|group| reason(part, events, &with(group)));
                groups.push(Group { members: vec![place], program: program(part, events, &[place])?, apart });
            }
        }
    }
    Ok(groups)
}

/// Why events cannot be counted together, if each can alone: the first two that already cannot, or the rule that all of them break.
#[must_use]
pub fn conflict(part: Part, events: &[impl AsRef<str>]) -> Option<String> {
    let all: Vec<usize> = (0..events.len()).collect();
    let each_alone = all.iter().all(|place| program(part, events, &[*place]).is_ok());
    if each_alone { reason(part, events, &all) } else { None }
}

fn reason(part: Part, events: &[impl AsRef<str>], places: &[usize]) -> Option<String> {
    let refusal = |places: &[usize]| match program(part, events, places) {
        Err(Error::Usage(why)) => Some(why),
        _ => None,
    };
    let whole = refusal(places)?;
    // Later events give way to earlier ones.
    let pairs = places.iter().enumerate().flat_map(|(at, second)| places.iter().take(at).map(move |first| [*first, *second]));
    Some(pairs.into_iter().find_map(|pair| refusal(&pair)).unwrap_or(whole))
}

fn program(part: Part, events: &[impl AsRef<str>], places: &[usize]) -> Result<Vec<Programming>, Error> {
    let chosen: Vec<&str> = places.iter().filter_map(|place| events.get(*place)).map(AsRef::as_ref).collect();
    dialect::program(part, &chosen)
}
