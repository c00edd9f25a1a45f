// Counts the instructions of a loop with PMD4 of either Itanium: `pmulab encode --pmu montecito IA64_INST_RETIRED` has the values.

        .set    TURNS, 1000

        .section .text, "ax", @progbits
        .global main#
        .proc   main#
main:   .prologue
        .save   ar.pfs, r32
        alloc   loc0 = ar.pfs, 0, 4, 3, 0
        .save   rp, loc1
        mov     loc1 = b0
        .body
        mov     r14 = 0
        mov     r15 = 1 ;;
        mov     pmc[r14] = r15 ;;       // PMC0.fr: everything is frozen
        srlz.d
        mov     r14 = 4
        movl    r15 = 0x2000809 ;;
        mov     pmd[r14] = r0
        mov     pmc[r14] = r15          // PMC4: instructions retired, at levels 0 and 3, of IA-64 code
        sum     4 ;;                    // PSR.up: user monitors count
        mov     pmc[r0] = r0 ;;
        srlz.d
        mov     r16 = TURNS - 1 ;;
        mov     ar.lc = r16 ;;
        // From one read to the next: three instructions of this bundle, and three of each turn.
{ .mii
        mov     loc2 = pmd[r14]
        nop.i   0
        nop.i   0 ;;
}
1:
{ .mib
        nop.m   0
        nop.i   0
        br.cloop.sptk.few 1b ;;
}
{ .mii
        mov     loc3 = pmd[r14]
        nop.i   0
        nop.i   0 ;;
}
        mov     r15 = 1
        rum     4 ;;
        mov     pmc[r0] = r15 ;;
        srlz.d

        movl    out0 = text
        br.call.sptk.many b0 = say# ;;
        movl    out0 = label
        sub     out1 = loc3, loc2
        movl    out2 = 3 + 3 * TURNS
        br.call.sptk.many b0 = check# ;;
        mov     r8 = 0
        mov     ar.pfs = loc0
        mov     b0 = loc1 ;;
        br.ret.sptk.many b0 ;;
        .endp   main#

        .section .rodata, "a", @progbits
label:  stringz "instructions of the loop"
text:   stringz "counted\n"
