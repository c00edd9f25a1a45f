//! Numbers as users write them and as they like to read them.

/// The number of 64 bits that `text` writes: `10`, `0x0a`, `1_000` or, for a two's complement, `-10`.
#[must_use]
pub fn parse(text: &str) -> Option<u64> {
    let digits = text.replace('_', "").to_ascii_lowercase();
    let (negative, digits) = match digits.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, digits.as_str()),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let value = match digits.strip_prefix("0x") {
        Some(hexadecimal) if hexadecimal.starts_with('+') => return None,
        Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(if negative { value.wrapping_neg() } else { value })
}

/// `value` in decimal, its digits in groups of three.
#[must_use]
pub fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `count` and the noun, in the plural where it belongs.
#[must_use]
pub fn counted(count: usize, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count as u64), if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_the_forms_of_litmus_files() {
        assert_eq!(parse("10"), Some(10));
        assert_eq!(parse("0x53_0076"), Some(0x53_0076));
        assert_eq!(parse("0XFF"), Some(255));
        assert_eq!(parse("-1"), Some(u64::MAX));
        for wrong in ["", "-", "0x", "ten", "--1", "-+1", "0x+1", "+1", "0x1_0000_0000_0000_0000"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn digits_stand_in_groups_of_three() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1000), "1,000");
        assert_eq!(grouped(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!(counted(1, "file"), "1 file");
        assert_eq!(counted(1200, "file"), "1,200 files");
    }
}
