//! Call chains, as far as frames are linked.

/// The most callers of a sample.
pub(crate) const MOST_CALLERS: usize = 64;

/// The return addresses of a chain of frames, the innermost first. A frame holds where its caller's frame is, and the return address lies
/// `saved` bytes from there, or from the frame itself if `in_own`. Frames grow downwards, so a chain that does not rise has ended.
pub(crate) fn callers(frame: u64, saved: u64, in_own: bool, peek: impl Fn(u64) -> Option<u64>) -> Vec<u64> {
    let mut callers = Vec::new();
    let mut frame = frame;
    while callers.len() < MOST_CALLERS {
        let Some(next) = peek(frame).filter(|_| frame != 0) else { break };
        let Some(address) = peek(if in_own { frame } else { next }.wrapping_add(saved)).filter(|address| *address != 0) else { break };
        callers.push(address);
        if next <= frame {
            break;
        }
        frame = next;
    }
    callers
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory from 0x1000 on.
    fn peek(words: &[u64]) -> impl Fn(u64) -> Option<u64> {
        move |address| words.get(usize::try_from(address.checked_sub(0x1000)? / 8).ok()?).copied()
    }

    #[test]
    fn frames_of_x86_have_the_return_address_above_the_link() {
        // Two frames, at 1000h and 1010h; the outermost links to 0.
        let memory = [0x1010, 0x40_0005, 0, 0x40_0099];
        assert_eq!(callers(0x1000, 8, true, peek(&memory)), [0x40_0005, 0x40_0099]);
    }

    #[test]
    fn frames_of_power_have_it_in_the_callers_frame() {
        // Back chains at 1000h and 1020h, LR save doublewords 16 bytes into the frames they lead to.
        let memory = [0x1020, 0, 0, 0, 0x1040, 0, 0x100, 0, 0, 0, 0x200];
        assert_eq!(callers(0x1000, 16, false, peek(&memory)), [0x100, 0x200]);
    }

    #[test]
    fn a_register_that_is_no_frame_gives_no_callers() {
        assert!(callers(0x5000, 8, true, peek(&[1, 2])).is_empty());
        assert!(callers(0, 8, true, |_| Some(0)).is_empty());
    }

    #[test]
    fn a_chain_that_turns_back_ends() {
        assert_eq!(callers(0x1000, 8, true, peek(&[0x1000, 0x77])), [0x77]);
    }
}
