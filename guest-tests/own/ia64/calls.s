// Procedures that call others, and say where they keep what leads back: `pmulab record` finds callers by these directives.
//
// .save, .savesp: the next instruction puts the return address (rp) or AR.PFS there. .fframe: it makes a frame on the memory stack.
// .restore sp: it ends that frame. A leaf needs none of them.

        .set    TURNS, 200
        .set    DEPTH, 40

        .section .text, "ax", @progbits
        .global main#
        .proc   main#
main:   .prologue
        .save   ar.pfs, r32
        alloc   loc0 = ar.pfs, 0, 2, 1, 0
        .save   rp, loc1
        mov     loc1 = b0
        .body
        mov     out0 = TURNS ;;
        br.call.sptk.many b0 = outer# ;;
        mov     out0 = DEPTH
        br.call.sptk.many b0 = descend# ;;
        mov     r8 = 0
        mov     ar.pfs = loc0
        mov     b0 = loc1 ;;
        br.ret.sptk.many b0 ;;
        .endp   main#

// outer(turns): keeps both in registers that the prologue's mask names.
        .proc   outer#
outer:  .prologue 12, r33
        alloc   loc1 = ar.pfs, 1, 2, 1, 0
        mov     loc0 = b0
        .body
        mov     out0 = in0 ;;
        br.call.sptk.many b0 = middle# ;;
        mov     ar.pfs = loc1
        mov     b0 = loc0 ;;
        br.ret.sptk.many b0 ;;
        .endp   outer#

// middle(turns): keeps the return address in its frame of 32 bytes. It returns early if there is nothing to do.
        .proc   middle#
middle: .prologue
        .save   ar.pfs, r33
        alloc   loc0 = ar.pfs, 1, 2, 1, 0
        mov     r14 = b0
        adds    loc1 = -16, sp
        .fframe 32
        adds    sp = -32, sp ;;
        .savesp rp, 16
        st8     [loc1] = r14
        .body
        .label_state 1
        cmp.ne  p6, p7 = 0, in0 ;;
(p6)    br.cond.sptk.few 1f
        ;;
        mov     ar.pfs = loc0
        .restore sp
        adds    sp = 32, sp ;;
        br.ret.sptk.many b0 ;;
1:
        .body
        .copy_state 1
        mov     out0 = in0
        br.call.sptk.many b0 = leaf# ;;
        mov     out0 = 0
        br.call.sptk.many b0 = branched# ;;
        ld8     r14 = [loc1]
        mov     ar.pfs = loc0 ;;
        mov     b0 = r14
        .restore sp
        adds    sp = 32, sp ;;
        br.ret.sptk.many b0 ;;
        .endp   middle#

// leaf(turns)
        .proc   leaf#
        .regstk 1, 0, 0, 0
leaf:   adds    r14 = -1, in0 ;;
        mov     r2 = ar.lc
        mov     ar.lc = r14 ;;
1:      add     r15 = r14, r15
        br.cloop.sptk.few 1b ;;
        mov     ar.lc = r2
        br.ret.sptk.many b0 ;;
        .endp   leaf#

// branched(turns): keeps both in general registers that no call saves, and calls through another branch register.
        .proc   branched#
branched:
        .prologue
        .save   ar.pfs, r33
        alloc   loc0 = ar.pfs, 1, 2, 1, 0
        .save   rp, loc1
        mov     loc1 = b0
        .body
        movl    r14 = middle# ;;
        mov     b6 = r14
        mov     out0 = in0 ;;
        br.call.sptk.many b0 = b6 ;;
        mov     ar.pfs = loc0
        mov     b0 = loc1 ;;
        br.ret.sptk.many b0 ;;
        .endp   branched#

// descend(depth): calls itself so often that the first frames are in memory. Returns how often.
        .proc   descend#
descend:
        .prologue
        .save   ar.pfs, r33
        alloc   loc0 = ar.pfs, 1, 2, 1, 0
        .save   rp, loc1
        mov     loc1 = b0
        .body
        cmp.eq  p6, p7 = 0, in0
        adds    out0 = -1, in0
        mov     r8 = 0 ;;
(p6)    br.cond.spnt.few 1f
        br.call.sptk.many b0 = descend# ;;
        adds    r8 = 1, r8
1:
        mov     ar.pfs = loc0
        mov     b0 = loc1 ;;
        br.ret.sptk.many b0 ;;
        .endp   descend#
