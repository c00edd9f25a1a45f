//! Integer arithmetic with the six status flags.
//!
//! Every function takes operands of `size` (1, 2, 4 or 8) bytes in the low bits, and returns the
//! result, masked to `size`, and status flags. Flags and results the manuals leave undefined are
//! those of AMD processors, as observed on family 1Ah.

use super::flags::{AF, CF, OF, PF, SF, STATUS, ZF};

/// All ones in the low `size` bytes.
#[inline]
pub(crate) fn mask(size: u8) -> u64 {
    u64::MAX >> (64 - 8 * u32::from(size.clamp(1, 8)))
}

/// The number of the sign bit.
#[inline]
fn top(size: u8) -> u32 {
    8 * u32::from(size.clamp(1, 8)) - 1
}

/// Sign-extends `size` bytes to 64 bits.
#[inline]
pub(crate) fn sign_extend(value: u64, size: u8) -> u64 {
    let shift = 63 - top(size);
    (((value << shift) as i64) >> shift) as u64
}

/// SF, ZF and PF of a masked result.
#[inline]
pub(crate) fn szp(result: u64, size: u8) -> u64 {
    let zero = if result == 0 { ZF } else { 0 };
    let sign = ((result >> top(size)) & 1) * SF;
    let parity = if (result as u8).count_ones() & 1 == 0 { PF } else { 0 };
    zero | sign | parity
}

/// `a + b + carry`; also gives ADD's and XADD's flags.
#[inline]
pub(crate) fn add(a: u64, b: u64, carry: u64, size: u8) -> (u64, u64) {
    let m = mask(size);
    let (a, b) = (a & m, b & m);
    let r = a.wrapping_add(b).wrapping_add(carry) & m;
    let carries = (a & b) | ((a | b) & !r);
    let overflow = (a ^ r) & (b ^ r);
    let flags = (((carries >> top(size)) & 1) * CF) | (((overflow >> top(size)) & 1) * OF) | ((a ^ b ^ r) & AF);
    (r, flags | szp(r, size))
}

/// `a - b - borrow`; also gives CMP's flags.
#[inline]
pub(crate) fn sub(a: u64, b: u64, borrow: u64, size: u8) -> (u64, u64) {
    let m = mask(size);
    let (a, b) = (a & m, b & m);
    let r = a.wrapping_sub(b).wrapping_sub(borrow) & m;
    let borrows = (!a & b) | ((!a | b) & r);
    let overflow = (a ^ b) & (a ^ r);
    let flags = (((borrows >> top(size)) & 1) * CF) | (((overflow >> top(size)) & 1) * OF) | ((a ^ b ^ r) & AF);
    (r, flags | szp(r, size))
}

/// Flags of AND, OR, XOR and TEST: CF and OF clear; AF, which is undefined, clear.
#[inline]
pub(crate) fn logic(r: u64, size: u8) -> (u64, u64) {
    let r = r & mask(size);
    (r, szp(r, size))
}

/// INC: ADD of one that keeps the CF in `old`.
#[inline]
pub(crate) fn inc(a: u64, old: u64, size: u8) -> (u64, u64) {
    let (r, flags) = add(a, 1, 0, size);
    (r, flags & !CF | old & CF)
}

/// DEC: SUB of one that keeps the CF in `old`.
#[inline]
pub(crate) fn dec(a: u64, old: u64, size: u8) -> (u64, u64) {
    let (r, flags) = sub(a, 1, 0, size);
    (r, flags & !CF | old & CF)
}

/// Which shift or rotate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shift {
    Shl,
    Shr,
    Sar,
    Rol,
    Ror,
    Rcl,
    Rcr,
}

/// The count as the processor masks it.
#[inline]
fn masked_count(count: u64, size: u8) -> u32 {
    (count & if size == 8 { 63 } else { 31 }) as u32
}

/// SHL to RCR; `old` are the status flags before, which a count of zero preserves.
///
/// OF follows the one-bit rule for every count, and a shift sets AF.
#[inline]
pub(crate) fn shift(op: Shift, a: u64, count: u64, old: u64, size: u8) -> (u64, u64) {
    let a = a & mask(size);
    let count = masked_count(count, size);
    if count == 0 {
        return (a, old & STATUS);
    }
    match op {
        Shift::Shl | Shift::Shr | Shift::Sar => shifted(op, a, count, size),
        _ => rotated(op, a, count, old & STATUS, size),
    }
}

#[inline]
fn shifted(op: Shift, a: u64, count: u32, size: u8) -> (u64, u64) {
    let (m, top) = (mask(size), top(size));
    let (r, carry) = match op {
        Shift::Shl => {
            let wide = u128::from(a) << count;
            (wide as u64 & m, (wide >> (top + 1)) as u64 & 1)
        }
        Shift::Shr => (a >> count, (a >> (count - 1)) & 1),
        _ => {
            let wide = i128::from(sign_extend(a, size) as i64);
            ((wide >> count) as u64 & m, (wide >> (count - 1)) as u64 & 1)
        }
    };
    let overflow = match op {
        Shift::Shl => (r >> top & 1) ^ carry,
        Shift::Shr => (r >> top & 1) ^ (r >> (top - 1) & 1),
        _ => 0,
    };
    (r, (carry * CF) | (overflow * OF) | AF | szp(r, size))
}

fn rotated(op: Shift, a: u64, count: u32, old: u64, size: u8) -> (u64, u64) {
    let (m, top) = (mask(size), top(size));
    let bits = top + 1;
    let (r, carry) = match op {
        Shift::Rol | Shift::Ror => {
            let n = if op == Shift::Rol { count % bits } else { (bits - count % bits) % bits };
            let r = if n == 0 { a } else { (a << n | a >> (bits - n)) & m };
            (r, if op == Shift::Rol { r & 1 } else { r >> top & 1 })
        }
        _ => {
            let n = count % (bits + 1);
            let n = if op == Shift::Rcl { n } else { (bits + 1 - n) % (bits + 1) };
            // CF is above the operand as bit number `bits`.
            let wide = u128::from(a) | u128::from(old & CF) << bits;
            let turned = if n == 0 { wide } else { wide << n | wide >> (bits + 1 - n) };
            (turned as u64 & m, (turned >> bits) as u64 & 1)
        }
    };
    let overflow = match op {
        Shift::Rol | Shift::Rcl => (r >> top & 1) ^ carry,
        _ => (r >> top & 1) ^ (r >> (top - 1) & 1),
    };
    (r, old & !(CF | OF) | (carry * CF) | (overflow * OF))
}

/// SHLD (`left`) and SHRD. A count above 16 on 16-bit operands, which is undefined, shifts the
/// source in twice.
pub(crate) fn double_shift(left: bool, a: u64, b: u64, count: u64, old: u64, size: u8) -> (u64, u64) {
    let (m, top) = (mask(size), top(size));
    let bits = top + 1;
    let (a, b) = (a & m, b & m);
    let count = masked_count(count, size);
    if count == 0 {
        return (a, old & STATUS);
    }
    let (r, carry) = if size == 2 {
        let (a, b) = (u128::from(a), u128::from(b));
        if left {
            let wide = a << 32 | b << 16 | b;
            ((wide << count >> 32) as u64 & m, (wide << count >> 48) as u64 & 1)
        } else {
            let wide = b << 32 | b << 16 | a;
            ((wide >> count) as u64 & m, (wide >> (count - 1)) as u64 & 1)
        }
    } else if left {
        let wide = (u128::from(a) << bits) | u128::from(b);
        ((wide >> (bits - count)) as u64 & m, a >> (bits - count) & 1)
    } else {
        let wide = (u128::from(b) << bits) | u128::from(a);
        ((wide >> count) as u64 & m, a >> (count - 1) & 1)
    };
    // This too was observed.
    let beyond = count > bits;
    let carry = if beyond { 0 } else { carry };
    let overflow = if left { if beyond { 0 } else { (r >> top & 1) ^ carry } } else { (r >> top & 1) ^ (r >> (top - 1) & 1) };
    (r, (carry * CF) | (overflow * OF) | AF | szp(r, size))
}

/// MUL: low half, high half, and CF and OF, which are set if the high half matters. The other flags are unchanged.
pub(crate) fn mul(a: u64, b: u64, size: u8) -> (u64, u64, u64) {
    let m = mask(size);
    let wide = u128::from(a & m) * u128::from(b & m);
    let (low, high) = (wide as u64 & m, (wide >> (top(size) + 1)) as u64 & m);
    (low, high, if high != 0 { CF | OF } else { 0 })
}

/// IMUL: like [`mul`].
#[inline]
pub(crate) fn imul(a: u64, b: u64, size: u8) -> (u64, u64, u64) {
    let m = mask(size);
    let a = i128::from(sign_extend(a, size) as i64);
    let b = i128::from(sign_extend(b, size) as i64);
    let wide = a * b;
    let (low, high) = (wide as u64 & m, (wide >> (top(size) + 1)) as u64 & m);
    let fits = i128::from(sign_extend(low, size) as i64) == wide;
    (low, high, if fits { 0 } else { CF | OF })
}

/// DIV of `high:low`: quotient and remainder, or `None` for #DE.
pub(crate) fn div(high: u64, low: u64, divisor: u64, size: u8) -> Option<(u64, u64)> {
    let m = mask(size);
    let wide = u128::from(high & m) << (top(size) + 1) | u128::from(low & m);
    let divisor = u128::from(divisor & m);
    let quotient = wide.checked_div(divisor)?;
    (quotient <= u128::from(m)).then(|| (quotient as u64, (wide % divisor) as u64))
}

/// IDIV of `high:low`: quotient and remainder, or `None` for #DE.
pub(crate) fn idiv(high: u64, low: u64, divisor: u64, size: u8) -> Option<(u64, u64)> {
    let m = mask(size);
    let bits = top(size) + 1;
    let wide = u128::from(high & m) << bits | u128::from(low & m);
    let unused = 128 - 2 * bits;
    let wide = ((wide << unused) as i128) >> unused;
    let divisor = i128::from(sign_extend(divisor, size) as i64);
    let quotient = wide.checked_div(divisor)?;
    let remainder = wide.checked_rem(divisor)?;
    let fits = i128::from(sign_extend(quotient as u64 & m, size) as i64) == quotient;
    fits.then_some((quotient as u64 & m, remainder as u64 & m))
}

/// Whether condition `code` (0 O, 1 NO, 2 B, ... 15 NLE) holds.
#[inline]
pub(crate) fn condition(code: u8, flags: u64) -> bool {
    let less = ((flags & SF) != 0) != ((flags & OF) != 0);
    let holds = match code >> 1 {
        0 => flags & OF != 0,
        1 => flags & CF != 0,
        2 => flags & ZF != 0,
        3 => flags & (CF | ZF) != 0,
        4 => flags & SF != 0,
        5 => flags & PF != 0,
        6 => less,
        _ => less || flags & ZF != 0,
    };
    holds != (code & 1 == 1)
}
