//! Numbers as litmus files have them.

use alloc::format;
use alloc::string::String;

/// Reads a number of 64 bits: decimal, hexadecimal behind `0x`, or either behind `-` for a two's complement.
pub(in crate::litmus) fn number(text: &str) -> Result<u64, String> {
    let digits = text.replace('_', "");
    let (negative, digits) = match digits.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, digits.as_str()),
    };
    let value = match digits.strip_prefix("0x") {
        Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16),
        None => digits.parse(),
    };
    let value = value.map_err(|_| format!("`{text}` is not a 64-bit number: write 10, 0x0a or, for a two's complement, -10"))?;
    Ok(if negative { value.wrapping_neg() } else { value })
}
