//! The flattened device tree, walked as an operating system does (Devicetree Specification 0.4, chapter 5): big-endian words in blocks of
//! structure and of strings.
//!
//! GPR 28 holds the structure block and GPR 29 the strings, from [`Walker::open`] on. GPR 19 to 27, 30 and 31 are the walker's.

use super::posted::{load_double, load_word};
use crate::power::Kernel;
use vm_pmu_engines::power::assemble::{
    CR0, Gpr, Label, R3, R4, R5, R6, R7, R8, R9, R10, R19, R20, R21, R22, R23, R24, R25, R26, R27, R28, R29, R30, R31,
};

/// Tokens of the structure block.
const BEGIN_NODE: i64 = 1;
const END_NODE: i64 = 2;
const PROPERTY: i64 = 3;
const NOTHING: i64 = 4;
/// Where the header has the offsets of the blocks of structure and strings.
const STRUCTURE: i64 = 8;
const STRINGS: i64 = 12;
/// The first word of a tree.
const MAGIC: u64 = 0xD00D_FEED;

/// The code that walks.
pub(super) struct Walker {
    next: Label,
    property: Label,
    same: Label,
    rest: Label,
    number: Label,
    compatible: Label,
    unit: Label,
    event: Label,
}

/// Clears the lowest two bits after adding 3: the next token.
fn align(k: &mut Kernel, register: Gpr) {
    k.a.addi(register, register, 3);
    k.a.rldicr(register, register, 0, 61);
}

/// Loads the address of text.
fn name(k: &mut Kernel, register: Gpr, text: &str) {
    let address = k.text(text);
    k.a.load(register, address);
}

impl Walker {
    pub(super) fn new(k: &mut Kernel) -> Walker {
        let walker = Walker {
            next: next(k),
            property: property(k),
            same: same(k),
            rest: rest(k),
            number: number(k),
            compatible: k.a.label(),
            unit: k.a.label(),
            event: k.a.label(),
        };
        walker.find_compatible(k);
        walker.find_unit(k);
        walker.find_event(k);
        walker
    }

    /// Finds the blocks of the tree that firmware handed over, and checks that it is one.
    pub(super) fn open(&self, k: &mut Kernel) {
        k.tree(R30);
        load_word(k, R3, 0, R30);
        k.check_is("the device tree's magic number", R3, MAGIC);
        load_word(k, R28, STRUCTURE, R30);
        load_word(k, R29, STRINGS, R30);
        k.a.add(R28, R28, R30);
        k.a.add(R29, R29, R30);
    }

    /// GPR 3 becomes the first node that is compatible with `with`, or 0.
    pub(super) fn compatible(&self, k: &mut Kernel, with: &str) {
        k.a.mr(R3, R28);
        name(k, R30, with);
        k.a.bl(self.compatible);
    }

    /// GPR 3 becomes where the data of property `of` of the node at GPR 3 are, GPR 5 their length; 0 if it has none.
    pub(super) fn property(&self, k: &mut Kernel, of: &str) {
        name(k, R4, of);
        k.a.bl(self.property);
    }

    /// GPR 23 becomes the unit of counters of this type (10h for those of the nest) whose events begin with `prefix`, GPR 22 its node of
    /// events. GPR 3 is 0 if there is none.
    pub(super) fn unit(&self, k: &mut Kernel, kind: u64, prefix: &str) {
        name(k, R26, prefix);
        k.a.load(R25, kind);
        k.a.bl(self.unit);
    }

    /// GPR 3 becomes the address at which event `event` of the last unit is posted, or 0, and GPR 4 its scale. For a unit of the nest, it
    /// is that of the chip of index `chip` in `base-addr`; for another, the offset in the memory that the unit is given.
    pub(super) fn event(&self, k: &mut Kernel, event: &str, chip: u64) {
        name(k, R21, event);
        k.a.load(R25, 8 * chip);
        k.a.bl(self.event);
    }

    /// GPR 3 becomes the start of the region of the chip of index `chip`, and `offset` the offset of the last unit in it.
    pub(super) fn region(&self, k: &mut Kernel, chip: u64, offset: Option<&str>) {
        k.a.mr(R3, R23);
        self.property(k, "base-addr");
        load_double(k, R20, 8 * chip as i64, R3);
        for of in ["offset"].into_iter().chain(offset) {
            k.a.mr(R3, R23);
            self.property(k, of);
            load_word(k, R5, 0, R3);
            k.a.add(R20, R20, R5);
        }
        k.a.mr(R3, R20);
    }

    /// From GPR 3 on, the node that is compatible with the text at GPR 30.
    fn find_compatible(&self, k: &mut Kernel) {
        let (each, none) = (k.a.label(), k.a.label());
        k.a.routine("find_compatible");
        k.a.here(self.compatible);
        k.a.mflr(R24);
        k.a.mr(R23, R3);
        k.a.here(each);
        k.a.mr(R3, R23);
        k.a.bl(self.next);
        k.a.branch_if_zero(R3, none);
        k.a.mr(R23, R3);
        self.property(k, "compatible");
        k.a.branch_if_zero(R3, each);
        k.a.mr(R4, R30);
        k.a.bl(self.same);
        k.a.bne(each);
        k.a.mr(R3, R23);
        k.a.here(none);
        k.a.mtlr(R24);
        k.a.blr();
    }

    /// The unit of the type in GPR 25 and the prefix at GPR 26.
    fn find_unit(&self, k: &mut Kernel) {
        let (each, found, none) = (k.a.label(), k.a.label(), k.a.label());
        k.a.routine("find_unit");
        k.a.here(self.unit);
        k.a.mflr(R31);
        k.a.mr(R23, R28);
        name(k, R30, "ibm,imc-counters");
        k.a.here(each);
        k.a.mr(R3, R23);
        k.a.bl(self.compatible);
        k.a.branch_if_zero(R3, none);
        self.property(k, "type");
        load_word(k, R5, 0, R3);
        k.a.cmpld(CR0, R5, R25);
        k.a.bne(each);
        k.a.mr(R3, R23);
        self.property(k, "events-prefix");
        // A unit without a prefix has no events.
        k.a.branch_if_zero(R3, each);
        k.a.mr(R4, R26);
        k.a.bl(self.same);
        k.a.bne(each);
        k.a.mr(R3, R23);
        self.property(k, "events");
        load_word(k, R20, 0, R3);
        // The node of that phandle.
        k.a.mr(R22, R28);
        let node = k.a.mark();
        k.a.mr(R3, R22);
        k.a.bl(self.next);
        k.a.branch_if_zero(R3, none);
        k.a.mr(R22, R3);
        self.property(k, "phandle");
        k.a.branch_if_zero(R3, node);
        load_word(k, R5, 0, R3);
        k.a.cmpld(CR0, R5, R20);
        k.a.beq(found);
        k.a.b(node);
        k.a.here(found);
        k.a.mr(R3, R22);
        k.a.here(none);
        k.a.mtlr(R31);
        k.a.blr();
    }

    /// The event at GPR 21 of the unit at GPR 23 whose events are at GPR 22; GPR 25 bytes into `base-addr`.
    fn find_event(&self, k: &mut Kernel) {
        let (each, none) = (k.a.label(), k.a.label());
        k.a.routine("find_event");
        k.a.here(self.event);
        k.a.mflr(R31);
        k.a.mr(R3, R23);
        self.property(k, "events-prefix");
        k.a.mr(R4, R3);
        k.a.mr(R3, R21);
        k.a.bl(self.rest);
        k.a.branch_if_zero(R3, none);
        k.a.mr(R21, R3);
        k.a.mr(R19, R22);
        k.a.load(R27, 0);
        k.a.here(each);
        k.a.mr(R3, R19);
        k.a.bl(self.next);
        k.a.branch_if_zero(R3, none);
        k.a.mr(R19, R3);
        // A node that is no child of the unit's events.
        k.a.load(R3, 0);
        k.a.cmpdi(CR0, R27, 1);
        k.a.blt(none);
        k.a.mr(R3, R19);
        self.property(k, "event-name");
        k.a.branch_if_zero(R3, each);
        k.a.mr(R4, R21);
        k.a.bl(self.same);
        k.a.bne(each);
        self.place(k);
        self.scale(k);
        k.a.mr(R3, R20);
        k.a.here(none);
        k.a.mtlr(R31);
        k.a.blr();
    }

    /// GPR 20 becomes the sum of where the event is, its unit, the region and the chip's home memory.
    fn place(&self, k: &mut Kernel) {
        k.a.mr(R3, R19);
        self.property(k, "reg");
        load_word(k, R20, 0, R3);
        for of in ["reg", "offset"] {
            let absent = k.a.label();
            k.a.mr(R3, R23);
            self.property(k, of);
            k.a.branch_if_zero(R3, absent);
            load_word(k, R5, 0, R3);
            k.a.add(R20, R20, R5);
            k.a.here(absent);
        }
        let absent = k.a.label();
        k.a.mr(R3, R23);
        self.property(k, "base-addr");
        k.a.branch_if_zero(R3, absent);
        k.a.add(R3, R3, R25);
        load_double(k, R5, 0, R3);
        k.a.add(R20, R20, R5);
        k.a.here(absent);
    }

    /// GPR 4 becomes the scale: the event's own, else the unit's.
    fn scale(&self, k: &mut Kernel) {
        let own = k.a.label();
        k.a.mr(R3, R19);
        self.property(k, "scale");
        k.a.cmpdi(CR0, R3, 0);
        k.a.bne(own);
        k.a.mr(R3, R23);
        self.property(k, "scale");
        k.a.here(own);
        k.a.bl(self.number);
    }
}

/// From GPR 3, the place after a node's name or one further on, to the place after the next node's name, or 0 at the end. GPR 27 is
/// incremented for each node that begins, and decremented for each that ends.
fn next(k: &mut Kernel) -> Label {
    k.a.routine("next");
    let entry = k.a.mark();
    let (begins, ends, has) = (k.a.label(), k.a.label(), k.a.label());
    load_word(k, R5, 0, R3);
    k.a.addi(R3, R3, 4);
    for (token, label) in [(PROPERTY, has), (BEGIN_NODE, begins), (END_NODE, ends), (NOTHING, entry)] {
        k.a.cmpdi(CR0, R5, token);
        k.a.beq(label);
    }
    k.a.load(R3, 0);
    k.a.blr();
    k.a.here(has);
    load_word(k, R6, 0, R3);
    k.a.add(R3, R3, R6);
    k.a.addi(R3, R3, 8);
    align(k, R3);
    k.a.b(entry);
    k.a.here(ends);
    k.a.addi(R27, R27, -1);
    k.a.b(entry);
    k.a.here(begins);
    k.a.addi(R27, R27, 1);
    let letter = k.a.mark();
    k.a.lbz(R6, 0, R3);
    k.a.addi(R3, R3, 1);
    k.a.cmpdi(CR0, R6, 0);
    k.a.bne(letter);
    align(k, R3);
    k.a.blr();
    entry
}

/// The property of the node at GPR 3 whose name is at GPR 4.
fn property(k: &mut Kernel) -> Label {
    k.a.routine("property");
    let entry = k.a.mark();
    let (is, found, other, nothing) = (k.a.label(), k.a.label(), k.a.label(), k.a.label());
    load_word(k, R5, 0, R3);
    k.a.cmpdi(CR0, R5, PROPERTY);
    k.a.beq(is);
    k.a.cmpdi(CR0, R5, NOTHING);
    k.a.beq(nothing);
    k.a.load(R3, 0);
    k.a.blr();
    k.a.here(nothing);
    k.a.addi(R3, R3, 4);
    k.a.b(entry);
    k.a.here(is);
    load_word(k, R6, 4, R3);
    load_word(k, R7, 8, R3);
    k.a.add(R7, R7, R29);
    k.a.mr(R8, R4);
    let letter = k.a.mark();
    k.a.lbz(R9, 0, R7);
    k.a.lbz(R10, 0, R8);
    k.a.cmpd(CR0, R9, R10);
    k.a.bne(other);
    k.a.branch_if_zero(R9, found);
    k.a.addi(R7, R7, 1);
    k.a.addi(R8, R8, 1);
    k.a.b(letter);
    k.a.here(other);
    k.a.addi(R3, R3, 12);
    k.a.add(R3, R3, R6);
    align(k, R3);
    k.a.b(entry);
    k.a.here(found);
    k.a.addi(R3, R3, 12);
    k.a.mr(R5, R6);
    k.a.blr();
    entry
}

/// Sets CR0 to whether the texts at GPR 3 and 4 are equal.
fn same(k: &mut Kernel) -> Label {
    k.a.routine("same");
    let entry = k.a.mark();
    let end = k.a.label();
    k.a.lbz(R5, 0, R3);
    k.a.lbz(R6, 0, R4);
    k.a.addi(R3, R3, 1);
    k.a.addi(R4, R4, 1);
    k.a.cmpd(CR0, R5, R6);
    k.a.bne(end);
    k.a.cmpdi(CR0, R5, 0);
    k.a.bne(entry);
    k.a.here(end);
    k.a.blr();
    entry
}

/// GPR 3 becomes the rest of the text at GPR 3 after the text at GPR 4, or 0 if it does not begin with that.
fn rest(k: &mut Kernel) -> Label {
    k.a.routine("rest");
    let entry = k.a.mark();
    let (end, other) = (k.a.label(), k.a.label());
    k.a.lbz(R6, 0, R4);
    k.a.branch_if_zero(R6, end);
    k.a.lbz(R5, 0, R3);
    k.a.addi(R3, R3, 1);
    k.a.addi(R4, R4, 1);
    k.a.cmpd(CR0, R5, R6);
    k.a.beq(entry);
    k.a.here(other);
    k.a.load(R3, 0);
    k.a.here(end);
    k.a.blr();
    entry
}

/// GPR 4 becomes the decimal number in the text at GPR 3; 1 if that is 0.
fn number(k: &mut Kernel) -> Label {
    k.a.routine("number");
    let entry = k.a.mark();
    let (digit, end) = (k.a.label(), k.a.label());
    k.a.load(R4, 1);
    k.a.branch_if_zero(R3, end);
    k.a.load(R4, 0);
    k.a.here(digit);
    k.a.lbz(R5, 0, R3);
    k.a.branch_if_zero(R5, end);
    k.a.mulli(R4, R4, 10);
    k.a.addi(R5, R5, -i64::from(b'0'));
    k.a.add(R4, R4, R5);
    k.a.addi(R3, R3, 1);
    k.a.b(digit);
    k.a.here(end);
    k.a.blr();
    entry
}
