//! Handlers that guests of one's own install.

use std::fs;
use std::path::Path;

use super::{are_there, folder, report, script};

/// Checks that a run has these checks, by name and value seen, and that all of them hold.
fn expect(folder: &Path, pmu: &str, file: &str, checks: &[(&str, u64)]) {
    let report = report(folder, &["--pmu", pmu, "--guest", file]);
    let seen: Vec<(&str, u64)> = report["checks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|check| (check["name"].as_str().unwrap(), check["seen"].as_u64().unwrap()))
        .collect();
    assert_eq!(seen, checks, "{pmu}: {report}");
}

/// Gives every register that a function may change a value, provokes an interrupt, and stores what the registers hold behind it.
const AROUND: &str = r#"#include "abi.h"
        .text
        FUNCTION(around)
        mflr    0
        std     0, 16(1)
        stdu    1, -64(1)
        std     14, 32(1)
        std     15, 40(1)
        std     16, 48(1)
        mr      14, 3
        mr      15, 2
        li      16, 113
        mtlr    16
        li      16, 114
        mtctr   16
        li      16, 115
        mtcr    16
        lis     16, 0x2000
        mtxer   16
        mr      16, 1
        .irp    number, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
        li      \number, 100 + \number
        .endr
        PROVOKE
        .irp    number, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
        std     \number, 8 * \number(14)
        .endr
        subf    16, 16, 1
        addi    16, 16, 101
        std     16, 8(14)
        mflr    16
        std     16, 8 * 13(14)
        mfctr   16
        std     16, 8 * 14(14)
        mfcr    16
        std     16, 8 * 15(14)
        mfxer   16
        std     16, 8 * 16(14)
        mr      2, 15
        ld      14, 32(1)
        ld      15, 40(1)
        ld      16, 48(1)
        addi    1, 1, 64
        ld      0, 16(1)
        mtlr    0
        blr
"#;

/// Its handler changes all that it may, and continues behind the instruction.
const HANDLER: &str = r#"#include "guest.h"
#include "pmu.h"

void around(uint64_t *seen);

static volatile uint64_t taken;

static void skip(struct interrupt *interrupt)
{
    taken = taken + (interrupt->vector == PROVOKED);
    interrupt->address += 4;
    __asm__ volatile("li 0, -1; li 4, -1; li 5, -1; li 6, -1; li 7, -1; li 8, -1; li 9, -1; li 10, -1; li 11, -1; li 12, -1;"
                     "mtctr 0; mtlr 0; mtcr 0; mtxer 0"
                     : : : "r0", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "ctr", "lr", "xer",
                     "cr0", "cr1", "cr2", "cr3", "cr4", "cr5", "cr6", "cr7");
}

int main(void)
{
    uint64_t seen[17];
    set_vector(PROVOKED, skip);
    around(seen);
    check("interrupts", taken, 1);
    for (uint64_t number = 0; number < 16; number++)
        check("a register", seen[number], 100 + number);
    check("XER", seen[16], 0x20000000);
    return 0;
}
"#;

/// Builds [`AROUND`] and [`HANDLER`] for an interrupt, with the compiler's `options`.
fn compare_registers_of_power(vector: &str, provoke: &str, options: &str) {
    let folder = folder();
    fs::write(folder.path().join("around.S"), AROUND).expect("it can be written");
    fs::write(folder.path().join("handler.c"), HANDLER).expect("it can be written");
    script(
        folder.path(),
        &format!(
            "own=guest-tests/own
            powerpc64le-linux-gnu-gcc {options} @$own/power9/options -DPROVOKED={vector} -DPROVOKE='{provoke}' -I $own -I $own/power9 \
                -T $own/power9/guest.ld -o handler.elf $own/report.c $own/power9/start.S $own/power9/runtime.c handler.c around.S"
        ),
    );
    let registers = (100..116).map(|value| ("a register", value));
    let checks: Vec<_> = [("interrupts", 1)].into_iter().chain(registers).chain([("XER", 0x2000_0000)]).collect();
    expect(folder.path(), "power9", "handler.elf", &checks);
}

// Power ISA 3.0B, book III, 6.5.9: a trap is a program interrupt, which SRR0 and `rfid` lead back from.
#[test]
fn a_handler_of_power_keeps_the_registers_of_what_it_interrupts() {
    if are_there(&["powerpc64le-linux-gnu-gcc"], "a_handler_of_power_keeps_the_registers_of_what_it_interrupts") {
        compare_registers_of_power("0x700", "trap", "");
    }
}

// Power ISA 3.0B, book III, 6.5.18: an invalid instruction is hypervisor emulation assistance, which HSRR0 and `hrfid` lead back from.
#[test]
fn a_handler_of_powers_hypervisor_keeps_the_registers_of_what_it_interrupts() {
    if are_there(&["powerpc64le-linux-gnu-gcc"], "a_handler_of_powers_hypervisor_keeps_the_registers_of_what_it_interrupts") {
        compare_registers_of_power("0xe40", ".long 0", "");
    }
}

#[test]
fn a_handler_of_powers_first_abi_keeps_the_registers_of_what_it_interrupts() {
    if are_there(&["powerpc64le-linux-gnu-gcc"], "a_handler_of_powers_first_abi_keeps_the_registers_of_what_it_interrupts") {
        compare_registers_of_power("0x700", "trap", "-mbig-endian -mabi=elfv1");
    }
}

/// Gives registers that a procedure may change values, breaks, and counts those that have others behind it. The handler changes all of them.
const BREAK: &str = r#"
        .macro  all action
        .irp    number, 2, 3, 8, 9, 10, 11, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        \action \number
        .endr
        .endm
        .macro  give number
        mov     r\number = 50 + \number
        .endm
        .macro  change number
        mov     r\number = -1
        .endm
        .macro  compare number
        cmp.ne  p6, p7 = 50 + \number, r\number ;;
(p6)    adds    loc2 = 1, loc2
        .endm

        .text
        .global main#
        .proc   main#
main:   alloc   loc0 = ar.pfs, 0, 4, 3, 0
        mov     loc1 = b0
        mov     loc2 = 0
        mov     out0 = 0x2c00
        movl    out1 = @fptr(skip#) ;;
        br.call.sptk.many b0 = set_vector# ;;
        mov     loc3 = 0x120 ;;
        mov     b6 = loc3
        mov     b7 = loc3
        mov     ar.ccv = loc3
        cmp.eq  p8, p9 = r0, r0
        all     give
        ;;
{ .mii
        break.m 0
        nop.i   0
        nop.i   0 ;;
}
(p9)    adds    loc2 = 1, loc2
        all     compare
        mov     r14 = b6
        mov     r15 = b7
        mov     r16 = ar.ccv ;;
        .irp    register, r14, r15, r16
        cmp.ne  p6, p7 = loc3, \register ;;
(p6)    adds    loc2 = 1, loc2
        .endr
        movl    out0 = interruptions
        movl    r14 = taken ;;
        ld8     out1 = [r14]
        mov     out2 = 1
        br.call.sptk.many b0 = check# ;;
        movl    out0 = registers
        mov     out1 = loc2
        mov     out2 = 0
        br.call.sptk.many b0 = check# ;;
        mov     r8 = 0
        mov     ar.pfs = loc0
        mov     b0 = loc1
        br.ret.sptk.many b0 ;;
        .endp   main#

        .proc   skip#
        .regstk 1, 0, 0, 0
skip:   adds    r14 = 8, in0
        movl    r16 = taken ;;
        ld8     r15 = [r14]
        ld8     r17 = [r16] ;;
        adds    r15 = 16, r15
        adds    r17 = 1, r17 ;;
        st8     [r14] = r15
        st8     [r16] = r17
        cmp.ne  p8, p9 = r0, r0
        all     change
        mov     b6 = r0
        mov     b7 = r0
        mov     ar.ccv = r0
        br.ret.sptk.many b0 ;;
        .endp   skip#

        .section .bss, "aw", @nobits
        .balign 8
taken:  .skip   8
        .section .rodata, "a", @progbits
interruptions:
        stringz "interruptions"
registers:
        stringz "registers that changed"
"#;

#[test]
fn a_handler_of_ia_64_keeps_the_registers_of_what_it_interrupts() {
    if !are_there(&["ia64-linux-gnu-as"], "a_handler_of_ia_64_keeps_the_registers_of_what_it_interrupts") {
        return;
    }
    let folder = folder();
    fs::write(folder.path().join("break.s"), BREAK).expect("it can be written");
    script(
        folder.path(),
        "own=guest-tests/own
        ia64-linux-gnu-as -g -x -o break.o break.s
        ia64-linux-gnu-as -g -x -o start.o $own/ia64/start.s
        ia64-linux-gnu-ld -static -T $own/ia64/guest.ld -o break.elf start.o break.o",
    );
    for pmu in ["itanium", "montecito"] {
        expect(folder.path(), pmu, "break.elf", &[("interruptions", 1), ("registers that changed", 0)]);
    }
}
