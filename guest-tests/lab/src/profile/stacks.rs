//! Samples as text that other tools read.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::{Places, Profile};

/// Writes folded stacks, as scripts that draw flame graphs read them: `guest;outermost;...;innermost EVENTS`.
///
/// # Errors
/// The text cannot be written.
pub fn folded(profile: &Profile, places: &Places, to: &mut dyn Write) -> io::Result<()> {
    let mut stacks: BTreeMap<String, u64> = BTreeMap::new();
    for sample in &profile.samples {
        let mut frames = vec![clean(&profile.guest)];
        frames.extend(places.callers(sample).iter().rev().map(|name| clean(name)));
        frames.push(clean(&places.name(sample.address)));
        *stacks.entry(frames.join(";")).or_default() += sample.period;
    }
    stacks.iter().try_for_each(|(stack, events)| writeln!(to, "{stack} {events}"))
}

/// A frame's name may have no semicolon.
fn clean(name: &str) -> String {
    name.replace(';', ":")
}

/// Writes what `perf script` writes: for each sample a line with the command, the thread, the CPU, the time, the period and the event, then a
/// line for each frame. A cycle is a nanosecond.
///
/// # Errors
/// The text cannot be written.
pub fn script(profile: &Profile, places: &Places, to: &mut dyn Write) -> io::Result<()> {
    let command = profile.guest.rsplit('/').next().unwrap_or_default().replace(char::is_whitespace, "_");
    let object = profile.file.as_deref().unwrap_or("[unknown]");
    for sample in &profile.samples {
        let (seconds, rest) = (sample.cycles / 1_000_000_000, sample.cycles % 1_000_000_000);
        writeln!(
            to,
            "{command} {thread:5} [{thread:03}] {seconds:5}.{rest:09}: {period:10} {event}: ",
            thread = sample.thread,
            period = sample.period,
            event = profile.event
        )?;
        for (index, address) in std::iter::once(&sample.address).chain(&sample.callers).enumerate() {
            let place = places.at(if index == 0 { *address } else { address.wrapping_sub(1) });
            let symbol = match place.and_then(|place| Some((place.symbol?, place.offset))) {
                // The offset is that of the address itself.
                Some((symbol, offset)) => format!("{symbol}+{:#x}", if index == 0 { offset } else { offset + 1 }),
                None => "[unknown]".to_owned(),
            };
            writeln!(to, "\t{address:16x} {symbol} ({object})")?;
        }
        writeln!(to)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use vm_pmu_board::beside::Sample;

    use super::*;

    fn profile() -> Profile {
        let inner = Sample { thread: 1, address: 0x40, cycles: 1_500_000_000, period: 10, callers: vec![0x21, 0x11], ..Sample::default() };
        let outer = Sample { address: 0x20, period: 5, ..Sample::default() };
        let samples = vec![inner.clone(), outer, inner];
        Profile { guest: "a;b".to_owned(), event: "CYCLES".to_owned(), samples, ..Profile::default() }
    }

    fn text(write: impl Fn(&mut Vec<u8>) -> io::Result<()>) -> String {
        let mut bytes = Vec::new();
        write(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn equal_stacks_are_one_line() {
        // A return address names the call before it.
        let folded = text(|to| folded(&profile(), &Places::default(), to));
        assert_eq!(folded, "a:b;0x10;0x20;0x40 20\na:b;0x20 5\n");
    }

    #[test]
    fn a_script_has_a_line_of_each_sample_and_each_frame() {
        let script = text(|to| script(&profile(), &Places::default(), to));
        let first: Vec<&str> = script.lines().take(5).collect();
        assert_eq!(
            first,
            [
                "a;b     1 [001]     1.500000000:         10 CYCLES: ",
                "\t              40 [unknown] ([unknown])",
                "\t              21 [unknown] ([unknown])",
                "\t              11 [unknown] ([unknown])",
                "",
            ]
        );
    }
}
