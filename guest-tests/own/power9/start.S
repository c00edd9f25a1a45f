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

/* The vectors from 100h to FE0h, 32 bytes apart. Interrupts to the hypervisor, E00h to EA0h and F80h, leave the address in HSRR0, others in
   SRR0 (Power ISA 3.0B, book III, 6.4.3). */
        .section .vectors, "ax"
        .set    vector, 0x100
        .rept   (0x1000 - 0x100) / 32
        li      3, vector
        .if     (vector >= 0xe00 && vector <= 0xea0) || vector == 0xf80
        mfspr   4, 314
        .else
        mfspr   4, 26
        .endif
        b       interrupt
        .balign 32
        .set    vector, vector + 32
        .endr

/* An interrupt that nothing handles: its vector in GPR 3, the address of the instruction in GPR 4. The rest of the guest is too far for a
   branch. */
interrupt:
        SET_TOC_ABSOLUTE
        ENTRY_OF(unexpected)
        mtctr   12
        bctrl

        .section .note.GNU-stack, "", @progbits
