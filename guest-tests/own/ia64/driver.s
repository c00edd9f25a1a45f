// A driver that samples instructions with PMD4 of either Itanium: `pmulab encode --pmu montecito IA64_INST_RETIRED:int` has the values.

        .set    FREEZE, 1               // PMC0.fr
        .set    SELECT, 0x2000829       // PMC4: instructions retired, at levels 0 and 3, of IA-64 code; an overflow interrupts
        .set    USER_MONITORS, 4        // PSR.up
        .set    VECTOR, 0xee            // of the monitors' interrupt
        .set    EXTERNAL, 0x3000        // where external interrupts enter

        .section .text, "ax", @progbits

// start_sampling(period)
        .global start_sampling#
        .proc   start_sampling#
start_sampling:
        .prologue
        .save   ar.pfs, r33
        alloc   loc0 = ar.pfs, 1, 2, 2, 0
        .save   rp, loc1
        mov     loc1 = b0
        .body
        mov     out0 = EXTERNAL
        movl    out1 = @fptr(overflow#) ;;
        br.call.sptk.many b0 = set_vector# ;;
        mov     r14 = FREEZE
        mov     r15 = VECTOR
        sub     r16 = r0, in0
        movl    r17 = before_overflow ;;
        mov     pmc[r0] = r14
        st8     [r17] = r16
        mov     cr.pmv = r15
        mov     cr.tpr = r0
        mov     r18 = 4
        movl    r19 = SELECT ;;
        srlz.d ;;
        mov     pmd[r18] = r16
        mov     pmc[r18] = r19
        sum     USER_MONITORS ;;
        mov     pmc[r0] = r0 ;;
        srlz.d
        mov     ar.pfs = loc0
        mov     b0 = loc1
        br.ret.sptk.many b0 ;;
        .endp   start_sampling#

// stop_sampling()
        .global stop_sampling#
        .proc   stop_sampling#
stop_sampling:
        mov     r14 = FREEZE ;;
        mov     pmc[r0] = r14
        rum     USER_MONITORS ;;
        srlz.d
        br.ret.sptk.many b0 ;;
        .endp   stop_sampling#

// overflow(interrupted): the monitors are frozen since the overflow.
        .proc   overflow#
overflow:
        .prologue
        .save   ar.pfs, r33
        alloc   loc0 = ar.pfs, 1, 2, 1, 0
        .save   rp, loc1
        mov     loc1 = b0
        .body
        mov     r14 = cr.ivr            // accepts the interrupt
        adds    r15 = 8, in0
        adds    r16 = 16, in0 ;;
        ld8     r17 = [r15]             // cr.iip
        ld8     r18 = [r16] ;;          // cr.ipsr
        extr.u  r18 = r18, 41, 2 ;;     // the slot
        add     out0 = r17, r18
        br.call.sptk.many b0 = sampled# ;;
        movl    r14 = before_overflow
        mov     r15 = 4 ;;
        ld8     r16 = [r14] ;;
        mov     pmd[r15] = r16
        mov     cr.eoi = r0 ;;
        srlz.d ;;
        mov     pmc[r0] = r0 ;;         // not frozen any more
        srlz.d
        mov     ar.pfs = loc0
        mov     b0 = loc1
        br.ret.sptk.many b0 ;;
        .endp   overflow#

        .section .bss, "aw", @nobits
        .balign 8
before_overflow:
        .skip   8
