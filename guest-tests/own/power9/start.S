/* Start-up of a guest of POWER9, and its interrupt vectors. `pmulab` starts every CPU here in hypervisor state without translation, with a
   stack in GPR 1, the CPU's number in GPR 3 and the address of `_start` in GPR 12. */
#include "abi.h"

        .section .text.start, "ax"
        FUNCTION(_start)
        SET_TOC
        cmpdi   3, 0
        bne     idle
        CALL(begin)
        CALL(end)
idle:   b       idle
        .size   CODE(_start), . - CODE(_start)

/* An interrupt calls `interrupted` with the address of a `struct interrupt` (pmu.h). Below it on the stack lies the header of a frame with an area
   of parameters, above it what the ABIs let a function use below its stack pointer. */
        .set    ABOVE, 288
        .set    BELOW, 112
        .set    FRAME, BELOW + 160 + ABOVE
        .set    GPR, BELOW
        .set    SAVED_LR, BELOW + 104
        .set    SAVED_CTR, BELOW + 112
        .set    SAVED_CR, BELOW + 120
        .set    SAVED_XER, BELOW + 128
        .set    ADDRESS, BELOW + 136
        .set    MSR, BELOW + 144
        .set    VECTOR, BELOW + 152
        .set    SRR0, 26
        .set    SRR1, 27
        .set    HSRR0, 314
        .set    HSRR1, 315

/* The vectors from 100h to FE0h, 32 bytes apart. Those to the hypervisor (980h, E00h to EA0h and F80h) leave the address in HSRR0, others in
   SRR0 (Power ISA 3.0B, book III, 6.4.3). The external interrupt, 500h, is taken to leave it in SRR0, as it does while LPCR[LPES] is 1. */
        .section .vectors, "ax"
        .set    vector, 0x100
        .rept   (0x1000 - 0x100) / 32
        stdu    1, -FRAME(1)
        std     3, GPR + 8 * 3(1)
        li      3, vector
        .if     vector == 0x980 || (vector >= 0xe00 && vector <= 0xea0) || vector == 0xf80
        b       hypervisor_interrupt
        .else
        b       interrupt
        .endif
        .balign 32
        .set    vector, vector + 32
        .endr

/* Saves what a function may change, calls `interrupted`, which is too far for a branch, and returns by `back`. The vector is in GPR 3. */
        .macro  handle name, address, msr, back
        .type   \name, @function
\name:
        std     3, VECTOR(1)
        .irp    number, 0, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12
        std     \number, GPR + 8 * \number(1)
        .endr
        addi    4, 1, FRAME
        std     4, GPR + 8(1)
        mflr    4
        std     4, SAVED_LR(1)
        mfctr   4
        std     4, SAVED_CTR(1)
        mfcr    4
        std     4, SAVED_CR(1)
        mfxer   4
        std     4, SAVED_XER(1)
        mfspr   4, \address
        std     4, ADDRESS(1)
        mfspr   4, \msr
        std     4, MSR(1)
        addi    3, 1, BELOW
        SET_TOC_ABSOLUTE
        ENTRY_OF(interrupted)
        mtctr   12
        bctrl
        ld      4, MSR(1)
        mtspr   \msr, 4
        ld      4, ADDRESS(1)
        mtspr   \address, 4
        ld      4, SAVED_XER(1)
        mtxer   4
        ld      4, SAVED_CR(1)
        mtcr    4
        ld      4, SAVED_CTR(1)
        mtctr   4
        ld      4, SAVED_LR(1)
        mtlr    4
        .irp    number, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
        ld      \number, GPR + 8 * \number(1)
        .endr
        ld      1, GPR + 8(1)
        \back
        .size   \name, . - \name
        .endm

        handle  interrupt, SRR0, SRR1, rfid
        handle  hypervisor_interrupt, HSRR0, HSRR1, hrfid

        .section .note.GNU-stack, "", @progbits
