// The test of a driver that samples, on either Itanium.

// 105,000 instructions, three a turn, are ten periods and a half. A handler's own instructions are part of the next period: up to 450 of them
// change nothing, as 10 * 10,000 is less than 105,000, and 11 * (10,000 - 450) is more.
        .set    PERIOD, 10000
        .set    TURNS, 105000 / 3
        .set    SAMPLES, 10
        .set    INTERRUPTS, 0x4000      // PSR.i

        .section .text, "ax", @progbits
        .global main#
        .proc   main#
main:   .prologue
        .save   ar.pfs, r32
        alloc   loc0 = ar.pfs, 0, 2, 3, 0
        .save   rp, loc1
        mov     loc1 = b0
        .body
        ssm     INTERRUPTS ;;
        srlz.d
        mov     out0 = PERIOD
        br.call.sptk.many b0 = start_sampling# ;;
        br.call.sptk.many b0 = loop# ;;
        br.call.sptk.many b0 = stop_sampling# ;;
        movl    out0 = interrupts
        movl    r14 = samples ;;
        ld8     out1 = [r14]
        mov     out2 = SAMPLES
        br.call.sptk.many b0 = check# ;;
        movl    out0 = elsewhere
        movl    r14 = outside ;;
        ld8     out1 = [r14]
        mov     out2 = 0
        br.call.sptk.many b0 = check# ;;
        br.call.sptk.many b0 = loop# ;;
        rsm     INTERRUPTS
        movl    out0 = afterwards
        movl    r14 = samples ;;
        ld8     r15 = [r14] ;;
        adds    out1 = -SAMPLES, r15
        mov     out2 = 0
        br.call.sptk.many b0 = check# ;;
        mov     r8 = 0
        mov     ar.pfs = loc0
        mov     b0 = loc1
        br.ret.sptk.many b0 ;;
        .endp   main#

// loop(): executes three instructions a turn.
        .proc   loop#
loop:   mov     r14 = TURNS - 1
        mov     r2 = ar.lc ;;
        mov     ar.lc = r14 ;;
loop_begin:
{ .mib
        nop.m   0
        nop.i   0
        br.cloop.sptk.few loop_begin ;;
}
loop_end:
        mov     ar.lc = r2
        br.ret.sptk.many b0 ;;
        .endp   loop#

// sampled(address): called by the driver at each interrupt.
        .global sampled#
        .proc   sampled#
sampled:
        .prologue
        .save   ar.pfs, r33
        alloc   loc0 = ar.pfs, 1, 2, 2, 0
        .save   rp, loc1
        mov     loc1 = b0
        .body
        movl    r14 = samples
        movl    r15 = outside
        movl    r16 = loop_begin
        movl    r17 = loop_end ;;
        ld8     r18 = [r14]
        cmp.ltu p6, p7 = in0, r16 ;;
(p7)    cmp.geu p6, p7 = in0, r17
        adds    r18 = 1, r18 ;;
        st8     [r14] = r18
(p6)    ld8     r19 = [r15] ;;
(p6)    adds    r19 = 1, r19 ;;
(p6)    st8     [r15] = r19
        mov     out0 = in0
        movl    out1 = label
        br.call.sptk.many b0 = sample# ;;
        mov     ar.pfs = loc0
        mov     b0 = loc1
        br.ret.sptk.many b0 ;;
        .endp   sampled#

        .section .bss, "aw", @nobits
        .balign 8
samples:
        .skip   8
outside:
        .skip   8

        .section .rodata, "a", @progbits
interrupts:
        stringz "interrupts of 105,000 instructions"
elsewhere:
        stringz "samples outside the loop"
afterwards:
        stringz "interrupts after the stop"
label:  stringz "sampled"
