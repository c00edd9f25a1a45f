// Start-up of a guest of either Itanium, its interruption vectors, its report and its console. `pmulab` starts every thread here at
// privilege level 0 without translation, with register bank 1, a memory stack in r12 and the thread's number in r8.
//
// The procedures follow the software conventions: they are called with `br.call b0`, take arguments in out0 to out3, and change only
// scratch registers, so that a compiler's code can call them.

        .set    REPORT, 0x10000
        .set    MOST, 500
        .set    CONSOLE, 0x10000000000e9
        .set    EXIT, 0x10000000000f4

        .section .text.start, "ax", @progbits
        .global _start#
        .proc   _start#
_start:
        // Nobody called: callers end here.
        .prologue
        .save   rp, r0
        .body
        cmp.ne  p6, p7 = 0, r8 ;;
(p6)    br.cond.spnt.few idle
        ;;
        movl    r15 = vectors# ;;
        mov     cr.iva = r15 ;;
        srlz.d ;;
        // Interruption collection, without which a fault leaves no address. Interrupts remain disabled.
        ssm     0x2000 ;;
        srlz.i ;;
        // The report: no checks, no samples, the magic number.
        movl    r14 = REPORT + 8
        movl    r15 = 0x504552554d504d56 ;;
        st8     [r14] = r0, 8 ;;
        st8     [r14] = r0, -16 ;;
        st8     [r14] = r15 ;;
        alloc   r14 = ar.pfs, 0, 0, 1, 0 ;;
        br.call.sptk.many b0 = main# ;;
        mov     out0 = r8
        br.call.sptk.many b0 = end# ;;
idle:
        br.cond.sptk.few idle ;;
        .endp   _start#

        .section .text, "ax", @progbits

// end(status): ends the run.
        .global end#
        .proc   end#
        .regstk 1, 0, 0, 0
end:    movl    r14 = EXIT ;;
1:      st1     [r14] = in0
        br.cond.sptk.few 1b ;;
        .endp   end#

// check(label, seen, right)
        .global check#
        .proc   check#
        .regstk 3, 0, 0, 0
check:  movl    r14 = REPORT + 8 ;;
        ld8     r15 = [r14] ;;
        mov     r18 = MOST
        shl     r16 = r15, 5
        adds    r17 = 0x18, r14 ;;
        cmp.eq  p6, p7 = r18, r15 ;;
(p6)    br.ret.spnt.many b0 ;;
        add     r17 = r17, r16
        adds    r15 = 1, r15 ;;
        st8     [r17] = in0, 8 ;;
        st8     [r17] = in1, 8 ;;
        st8     [r17] = in2, 8 ;;
        st8     [r17] = in2
        st8     [r14] = r15
        br.ret.sptk.many b0 ;;
        .endp   check#

// say(text): writes to the console.
        .global say#
        .proc   say#
        .regstk 1, 0, 0, 0
say:    movl    r14 = CONSOLE ;;
1:      ld1     r15 = [in0], 1 ;;
        cmp.eq  p6, p7 = 0, r15 ;;
(p6)    br.ret.spnt.many b0 ;;
        st1     [r14] = r15
        br.cond.sptk.few 1b ;;
        .endp   say#

// An interruption that nothing handles: a sample at its bundle and slot, by which `pmulab` says what lies there, and status 3.
        .proc   unexpected#
unexpected:
        mov     r16 = cr.iip
        mov     r17 = cr.ipsr ;;
        extr.u  r17 = r17, 41, 2
        movl    r18 = REPORT + 16
        movl    r19 = REPORT + 0x4000
        movl    r20 = label ;;
        add     r16 = r16, r17
        mov     r21 = 1 ;;
        st8     [r18] = r21
        st8     [r19] = r16, 8 ;;
        st8     [r19] = r20, 8 ;;
        st8     [r19] = r21
        alloc   r14 = ar.pfs, 1, 0, 0, 0 ;;
        mov     in0 = 3
        br.cond.sptk.many end# ;;
        .endp   unexpected#

        .section .rodata, "a", @progbits
label:  stringz "unexpected"

// The vectors: 20 of 1 KiB, then 48 of 256 bytes (Software Developer's Manual, volume 2, table 5-7).
        .section .vectors, "ax", @progbits
        .global vectors#
vectors:
        .rept   20
        .balign 0x400
        br.cond.sptk.many unexpected# ;;
        .endr
        .org    0x5000
        .rept   48
        .balign 0x100
        br.cond.sptk.many unexpected# ;;
        .endr
        .org    0x8000
