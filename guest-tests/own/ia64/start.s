// Start-up of a guest of either Itanium, its interruptions, its report and its console. `pmulab` starts every thread here at
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

// sample(address, label): a sample fell on an address, once more if it is in the report.
        .global sample#
        .proc   sample#
        .regstk 2, 0, 0, 0
sample: movl    r14 = REPORT + 16
        movl    r16 = REPORT + 0x4000
        mov     r18 = MOST
        mov     r19 = 0 ;;
        ld8     r15 = [r14] ;;
1:      cmp.eq  p6, p7 = r19, r15
        adds    r17 = 16, r16 ;;
(p6)    br.cond.spnt.few 2f
        ld8     r20 = [r16], 24
        ld8     r21 = [r17]
        adds    r19 = 1, r19 ;;
        cmp.ne  p6, p7 = r20, in0
        adds    r21 = 1, r21 ;;
(p6)    br.cond.sptk.few 1b
        ;;
        st8     [r17] = r21
        br.ret.sptk.many b0 ;;
2:      cmp.eq  p6, p7 = r18, r15
        mov     r21 = 1 ;;
(p6)    br.ret.spnt.many b0 ;;
        st8     [r16] = in0, 8 ;;
        st8     [r16] = in1, 8
        adds    r15 = 1, r15 ;;
        st8     [r16] = r21
        st8     [r14] = r15
        br.ret.sptk.many b0 ;;
        .endp   sample#

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

// set_vector(vector, handler): has a procedure called at the interruption whose vector is at that offset from cr.iva; 3000h is that of
// external interrupts. The handler is a descriptor, `@fptr(name#)`. It gets the address of what was interrupted, 8 bytes each: the vector,
// cr.iip, cr.ipsr, cr.ifs. The guest continues with what it leaves there. It may not use floating-point registers.
        .global set_vector#
        .proc   set_vector#
        .regstk 2, 0, 0, 0
set_vector:
        movl    r14 = handlers#
        extr.u  r15 = in0, 8, 7 ;;
        shladd  r14 = r15, 3, r14 ;;
        st8     [r14] = in1
        br.ret.sptk.many b0 ;;
        .endp   set_vector#

// What an interruption puts on the memory stack, above the 16 bytes that belong to a callee: what handlers are told, predicates, branch and
// application registers, and all general registers that a callee may change. r16 to r31 are those of bank 0 at first, and free.
        .set    TOLD, 16
        .set    GENERAL, TOLD + 8 * 11
        .set    BANKED, GENERAL + 8 * 9
        .set    FRAME, BANKED + 8 * 17

        .proc   interruption#
interruption:
        // Callers end here: the stack of the interrupted code is not followed.
        .prologue
        .save   rp, r0
        .body
        movl    r17 = handlers#
        extr.u  r18 = r16, 8, 7
        mov     r31 = pr ;;
        shladd  r17 = r18, 3, r17 ;;
        ld8     r17 = [r17] ;;
        cmp.eq  p6, p7 = 0, r17
(p6)    br.cond.spnt.few unexpected
        ;;
        adds    sp = -FRAME, sp
        mov     r20 = cr.iip
        mov     r21 = cr.ipsr
        mov     r23 = b0
        mov     r24 = b6
        mov     r25 = b7
        mov     r26 = ar.pfs
        mov     r27 = ar.ccv
        mov     r28 = ar.unat
        cover ;;
        mov     r22 = cr.ifs
        adds    r18 = TOLD, sp ;;
        .irp    register, r16, r20, r21, r22, r23, r24, r25, r26, r27, r28, r31
        st8     [r18] = \register, 8 ;;
        .endr
        .irp    register, r1, r2, r3, r8, r9, r10, r11, r14, r15
        st8.spill [r18] = \register, 8 ;;
        .endr
        mov     r2 = r18
        mov     r3 = r17
        bsw.1 ;;
        .irp    register, r16, r17, r18, r19, r20, r21, r22, r23, r24, r25, r26, r27, r28, r29, r30, r31
        st8.spill [r2] = \register, 8 ;;
        .endr
        // A fault in the handler leaves its address again. A callee keeps AR.UNAT.
        ssm     0x2000 ;;
        srlz.i ;;
        alloc   r14 = ar.pfs, 0, 0, 1, 0
        ld8     r9 = [r3], 8 ;;
        ld8     r1 = [r3]
        mov     b6 = r9
        adds    out0 = TOLD, sp
        br.call.sptk.many b0 = b6 ;;
        rsm     0x2000 ;;
        srlz.i
        adds    r2 = BANKED, sp ;;
        .irp    register, r16, r17, r18, r19, r20, r21, r22, r23, r24, r25, r26, r27, r28, r29, r30, r31
        ld8.fill \register = [r2], 8 ;;
        .endr
        bsw.0 ;;
        adds    r18 = GENERAL, sp
        adds    r19 = TOLD + 8, sp ;;
        .irp    register, r1, r2, r3, r8, r9, r10, r11, r14, r15
        ld8.fill \register = [r18], 8 ;;
        .endr
        .irp    register, r20, r21, r22, r23, r24, r25, r26, r27, r28, r31
        ld8     \register = [r19], 8 ;;
        .endr
        mov     cr.iip = r20
        mov     cr.ipsr = r21
        mov     cr.ifs = r22
        mov     b0 = r23
        mov     b6 = r24
        mov     b7 = r25
        mov     ar.pfs = r26
        mov     ar.ccv = r27
        mov     ar.unat = r28
        mov     pr = r31, -1
        adds    sp = FRAME, sp ;;
        rfi ;;
        .endp   interruption#

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

// A descriptor, or 0, for each 256 bytes of the vectors.
        .section .bss, "aw", @nobits
        .balign 8
handlers:
        .skip   8 * 128

// The vectors: 20 of 1 KiB, then 48 of 256 bytes (Software Developer's Manual, volume 2, table 5-7).
        .section .vectors, "ax", @progbits
        .global vectors#
vectors:
        .set    vector, 0
        .rept   20
        .balign 0x400
        mov     r16 = vector
        br.cond.sptk.many interruption# ;;
        .set    vector, vector + 0x400
        .endr
        .rept   48
        .balign 0x100
        mov     r16 = vector
        br.cond.sptk.many interruption# ;;
        .set    vector, vector + 0x100
        .endr
        .org    0x8000
