//! Branches and what else is for the B unit: formats B1 to B8, X3 and X4.

use super::Br;
use super::Whether;
use super::op::Label;
use super::op::{Allows, BranchHints, Op, Part, Unit, Use, parts};

/// What branches may have: a hint, `.many` and `.clr`.
const HINTS: Allows =
    Allows { always: false, number: None, register: false, locality: false, status_field: false, branch: Some(BranchHints::Two) };
/// The same of those that no predicate qualifies.
const ALWAYS: Allows = Allows { always: true, ..HINTS };
/// The tag of `brp`: nine bits in two parts.
const TAG: &[Part] = &[(6, 7), (33, 2)];

macro_rules! relative {
    ($($name:ident $btype:literal $allows:ident $what:literal;)*) => {
        $(
            #[doc = concat!($what, ": label. Formats B1 and B2.")]
            pub fn $name(target: Label) -> Op {
                Op::new(Unit::B, 4, $btype << 6).label(target, Use::Distance(parts::BRANCH)).allowing($allows)
            }
        )*
    };
}

relative! {
    br_cond 0 HINTS "Branch if the qualifying predicate is 1";
    br_wexit 2 HINTS "Branch at the end of a pipelined while loop that is left by it";
    br_wtop 3 HINTS "Branch at the end of a pipelined while loop";
    br_cloop 5 ALWAYS "Branch, and count LC down, unless it is 0";
    br_cexit 6 ALWAYS "Branch at the end of a pipelined counted loop that is left by it";
    br_ctop 7 ALWAYS "Branch at the end of a pipelined counted loop";
}

/// Call: b1, which becomes the address to return to, label. Format B3.
pub fn br_call(b1: Br, target: Label) -> Op {
    Op::new(Unit::B, 5, 0).field(b1.bits(), 6, 3).label(target, Use::Distance(parts::BRANCH)).allowing(HINTS)
}

/// Branch through a register: b2. Format B4.
pub fn br_cond_reg(b2: Br) -> Op {
    Op::new(Unit::B, 0, 0x20 << 27).field(b2.bits(), 13, 3).allowing(HINTS)
}

/// Branch through a register to IA-32 code: b2. Format B4.
pub fn br_ia(b2: Br) -> Op {
    Op::new(Unit::B, 0, 0x20 << 27 | 1 << 6).field(b2.bits(), 13, 3).allowing(ALWAYS)
}

/// Return through a register: b2. Format B4.
pub fn br_ret(b2: Br) -> Op {
    Op::new(Unit::B, 0, 0x21 << 27 | 4 << 6).field(b2.bits(), 13, 3).allowing(HINTS)
}

/// Call through a register: b1, which becomes the address to return to, b2. Format B5.
pub fn br_call_reg(b1: Br, b2: Br) -> Op {
    let allows = Allows { branch: Some(BranchHints::Three), ..HINTS };
    Op::new(Unit::B, 1, 1 << 32).field(b1.bits(), 6, 3).field(b2.bits(), 13, 3).allowing(allows)
}

/// Branch to anywhere: label. Takes two slots. Format X3.
pub fn brl_cond(target: Label) -> Op {
    Op::new(Unit::X, 0xC, 0).label(target, Use::Long).allowing(HINTS)
}

/// Call to anywhere: b1, which becomes the address to return to, label. Takes two slots. Format X4.
pub fn brl_call(b1: Br, target: Label) -> Op {
    Op::new(Unit::X, 0xD, 0).field(b1.bits(), 6, 3).label(target, Use::Long).allowing(HINTS)
}

/// What the IP-relative branch at `tag` will do, by `.sptk`: label, tag. Format B6.
pub fn brp(target: Label, tag: Label) -> Op {
    prediction(0, target, tag)
}

/// The same of the branch at the end of a loop, by `.loop`: label, tag. Format B6.
pub fn brp_loop(target: Label, tag: Label) -> Op {
    prediction(1, target, tag)
}

/// The same by `.dptk`: label, tag. Format B6.
pub fn brp_dptk(target: Label, tag: Label) -> Op {
    prediction(2, target, tag)
}

/// The same of a branch out of a loop, by `.exit`: label, tag. Format B6.
pub fn brp_exit(target: Label, tag: Label) -> Op {
    prediction(3, target, tag)
}

fn prediction(hint: u64, target: Label, tag: Label) -> Op {
    let op = Op::new(Unit::B, 7, hint << 3).always();
    op.label(target, Use::Distance(parts::BRANCH)).label(tag, Use::Distance(TAG))
}

fn through(x6: u64, b2: Br, hint: Whether, tag: Label) -> Op {
    let code = matches!(hint, Whether::Sptk | Whether::Dptk).then_some(hint as u64);
    let op = Op::new(Unit::B, 2, x6 << 27).always().field(b2.bits(), 13, 3);
    op.coded(hint as i64, code, 3, 2).label(tag, Use::Distance(TAG))
}

/// What the branch through a register at `tag` will do, taken and static or dynamic: b2, hint, tag. Format B7.
pub fn brp_reg(b2: Br, hint: Whether, tag: Label) -> Op {
    through(0x10, b2, hint, tag)
}

/// What the return at `tag` will do, taken and static or dynamic: b2, hint, tag. Format B7.
pub fn brp_ret(b2: Br, hint: Whether, tag: Label) -> Op {
    through(0x11, b2, hint, tag)
}

macro_rules! bare {
    ($($name:ident $x6:literal $what:literal;)*) => {
        $(
            #[doc = concat!($what, ". Format B8.")]
            pub fn $name() -> Op {
                Op::new(Unit::B, 0, $x6 << 27).always()
            }
        )*
    };
}

bare! {
    cover 0x02 "An empty frame behind this one; the last of its group";
    clrrrb 0x04 "Clear all register rename bases; the last of its group";
    clrrrb_pr 0x05 "Clear the rename base of predicates; the last of its group";
    rfi 0x08 "Return from an interruption; the last of its group";
    bsw_0 0x0C "Register bank 0; the last of its group";
    bsw_1 0x0D "Register bank 1; the last of its group";
    epc 0x10 "Enter privileged code";
    vmsw_0 0x18 "No virtual machine; the last of its group";
    vmsw_1 0x19 "A virtual machine; the last of its group";
}
