/*
 * rare [N]: what other programs hardly do, N times (200 without an argument).
 *
 *   - stores into code that has been executed, with ICBI; code on many pages
 *   - accesses that are not aligned, within a line, across lines and across pages; vectors, pairs
 *   - reservations of each size, kept and lost; barriers of each kind; DCBZ, DCBF, DCBST, touches and streams
 *   - loads of what was just stored, of another size, at another virtual address, or before the store has its data or its address; chains of loads
 *     that miss
 *   - loads, stores and vectors in each slice, many at once; prefetches of many pages
 *   - chains of operations of each unit
 *   - floating point of each width, divisions and square roots of all kinds, decimal, vectors, cryptography, special registers
 *   - branches by CTR, by conditions, to LR, CTR and TAR, calls that are deeper than any link stack, returns to other places
 *   - priorities of threads
 *   - now and then a walk through more memory than the caches have
 *
 * It has no known counts.
 */
#include "start.h"

.machine power9

#define PAGES 600
#define PAGE 4096
#define LINE 128
#define BIG (12 << 20)

.macro ADDRESS register, symbol
        lis \register, \symbol@h
        ori \register, \register, \symbol@l
.endm

START 200
        mr 14, 5                        /* sc may write r5 */
        ADDRESS 3, code
        lis 4, (PAGES * (PAGE + LINE))@h
        ori 4, 4, (PAGES * (PAGE + LINE))@l
        li 5, 7
        li 0, 125                       /* mprotect */
        sc
        ADDRESS 15, data
        li 3, 0                         /* shared memory, and the same at another address */
        lis 4, 1
        li 5, 3
        li 6, 0x21
        li 7, -1
        li 8, 0
        li 0, 90                        /* mmap */
        sc
        mr 16, 3
        li 4, 0
        lis 5, 1
        li 6, 1
        li 0, 163                       /* mremap */
        sc
        mr 17, 3
END _start

FUNCTION turn
        bl misalign
        bl reserve
        bl cache
        bl forward
        bl late
        bl slices
        bl float
        bl vector
        bl chain
        bl fixed
        bl branch
        li 20, 60
        bl deep
        bl spoil
        andi. 5, 14, 63
        bne 1f
        bl walk_code
        bl walk
        bl prefetch
1:      addic. 14, 14, -1
        bne turn
        EXIT
END turn

FUNCTION misalign
        ld 4, 4(15)
        lwz 5, 125(15)
        lwz 6, 126(15)
        std 4, 252(15)
        stw 5, 382(15)
        sth 5, 511(15)
        lhz 7, 63(15)
        addi 8, 15, PAGE - 3
        ldx 9, 0, 8
        stdx 9, 0, 8
        addi 8, 15, 123
        lxvd2x 32, 0, 8
        stxvd2x 32, 0, 8
        lxvx 33, 0, 8
        stxvx 33, 0, 8
        lq 10, 256(15)
        stq 10, 272(15)
        lxv 34, 128(15)
        stxv 34, 144(15)
.rept 8
        lwz 5, 61(15)
        lwz 6, 189(15)
        lhz 7, 317(15)
        ld 9, 444(15)
        stw 5, 1021(15)
        stw 6, 1149(15)
        std 9, 1276(15)
.endr
        blr
END misalign

FUNCTION reserve
        lbarx 4, 0, 15
        stbcx. 4, 0, 15
        lharx 4, 0, 15
        sthcx. 4, 0, 15
        lwarx 4, 0, 15
        stwcx. 4, 0, 15
        ldarx 4, 0, 15
        stdcx. 4, 0, 15
        stdcx. 4, 0, 15                 /* lost */
        ldarx 4, 0, 15
        ld 5, 0(15)
        std 5, 8(15)
        stdcx. 4, 0, 15
.rept 4
        lwarx 4, 0, 15
        ldarx 5, 0, 15
.endr
        sync
        lwsync
        eieio
        isync
        ptesync
        blr
END reserve

FUNCTION cache
        addi 8, 15, 2048
        dcbz 0, 8
        dcbst 0, 8
        dcbf 0, 8
        ld 4, 0(8)
        dcbt 0, 8
        dcbtt 0, 8
        dcbtst 0, 8
        icbi 0, 8
        sync
        isync
        dcbt 0, 8, 8                    /* a stream that is described */
        dcbt 0, 8, 10
        addi 8, 15, 4096
        li 9, 24
        mtctr 9
1:      ld 4, 0(8)                      /* one that the prefetcher finds */
        ld 5, 64(8)
        addi 8, 8, LINE
        bdnz 1b
        li 9, 24
        mtctr 9
2:      ld 4, 0(8)
        addi 8, 8, -LINE
        bdnz 2b
        blr
END cache

FUNCTION forward
        stw 4, 0(15)
        ld 5, 0(15)
        std 5, 16(15)
        lwz 6, 18(15)
        ld 7, 16(15)
        divd 7, 7, 14
        std 7, 32(15)                   /* its data come late */
        ld 8, 32(15)
        rlwinm 8, 8, 0, 20, 28
        stdx 7, 15, 8                   /* so does its address */
        ld 9, 0(15)
        stb 9, 48(15)
        lhz 9, 48(15)
        std 9, 64(15)
        ldarx 10, 0, 15
        stdcx. 10, 0, 15
        std 9, 4096(15)
        ld 10, 8192(15)                 /* the same place within a page */
.rept 48
        std 9, 128(15)
        std 9, 256(15)
        ld 10, 384(15)
        stb 9, 515(15)
.endr
        blr
END forward

/* Each of these stores has its address after the load behind it, at more places than the processor remembers. */
FUNCTION late
.rept 20
        divd 7, 15, 14
        andi. 7, 7, 0
        stdx 9, 15, 7
        ld 10, 0(15)
        divd 7, 15, 14
        andi. 7, 7, 0
        stdx 9, 16, 7
        ld 10, 0(17)
.endr
        blr
END late

FUNCTION slices
        addi 8, 15, 1024
.irp slice, 0, 8, 16, 24
        ld 4, 1028+\slice(15)
        std 4, 1028+\slice(15)
        lwz 5, 1026+\slice(15)
        li 9, \slice
        lxvx 33, 9, 8
        stxvx 33, 9, 8
        lxvd2x 33, 9, 8
.endr
.rept 40                                /* of one slice, and of one line */
        ldx 4, 8, 9
        ldx 5, 8, 9
        stdx 4, 8, 9
        stdx 5, 8, 9
.endr
.irp spr, 3, 13, 3, 13, 3, 13
        mfspr 9, \spr
.endr
        and 0, 0, 0                     /* a probe */
        and 1, 1, 1
        blr
END slices

FUNCTION float
        lfd 1, 128(15)
        lfs 2, 192(15)
        fadd 3, 1, 2
        fadds 3, 1, 2
        fmul 4, 3, 1
        fmadd 5, 3, 4, 1
        fmadds 5, 3, 4, 1
        fdiv 6, 5, 4
        fdivs 6, 5, 4
        fsqrt 7, 6
        fsqrts 7, 6
        fctid 8, 7
        fcfid 9, 8
        fmr 10, 9
        fabs 10, 9
        fcmpu 1, 9, 10
        mffs 11
        mtfsf 255, 11
        mtfsb0 30
        mtfsb1 30
        stfd 9, 128(15)
        stfs 9, 192(15)
        xsaddqp 0, 1, 2
        xsmulqp 3, 1, 2
        xsmaddqp 3, 1, 2
        xsdivqp 4, 1, 2
        xssqrtqp 5, 1
        xscvdpqp 6, 1
        dadd 0, 1, 2
        dmul 4, 1, 2
        ddiv 6, 1, 2
        dcmpu 1, 1, 2
        daddq 12, 14, 16
        blr
END float

FUNCTION vector
        lvx 0, 0, 15
        xvadddp 1, 2, 3
        xvaddsp 1, 2, 3
        xvmuldp 1, 2, 3
        xvmaddadp 1, 2, 3
        xvmaddasp 1, 2, 3
        xvdivdp 4, 2, 3
        xvdivsp 4, 2, 3
        xvsqrtdp 5, 2
        xvsqrtsp 5, 2
        xsadddp 5, 2, 3
        xsaddsp 5, 2, 3
        xsdivdp 5, 2, 3
        xssqrtdp 5, 2
        xxlxor 6, 6, 6
        xxpermdi 7, 6, 5, 1
        vaddubm 1, 2, 3
        vmuluwm 1, 2, 3
        vperm 4, 1, 2, 3
        vsldoi 4, 1, 2, 3
        vcipher 5, 1, 2
        vcipherlast 5, 1, 2
        vncipher 5, 1, 2
        vsbox 5, 1
        vshasigmaw 6, 1, 0, 5
        vshasigmad 6, 1, 0, 5
        vpmsumd 6, 1, 2
        vpmsumw 6, 1, 2
        bcdadd. 7, 1, 2, 0
        bcdsub. 7, 1, 2, 0
        bcdcfn. 7, 1, 0
        vcmpequb. 8, 1, 2
        vaddfp 9, 1, 2
        vmaddfp 9, 1, 2, 3
        vrsqrtefp 9, 1
        mfvsrd 9, 32
        mtvsrd 33, 9
.rept 6
        lvx 0, 0, 15
        lxvd2x 33, 0, 15
        lvewx 2, 0, 15
        stvx 0, 0, 15
        stvewx 2, 0, 15
.endr
        blr
END vector

/* Operations of each unit of which each needs the one before, so that all wait for the oldest. */
FUNCTION chain
.rept 60
        vcipher 5, 5, 2
.endr
.rept 40
        xvmuldp 1, 1, 2
.endr
.rept 80
        vaddubm 1, 1, 2
.endr
.rept 40
        vmuluwm 1, 1, 2
.endr
.rept 16
        xvdivdp 4, 4, 3
.endr
.rept 24
        daddq 12, 12, 16
.endr
.rept 8
        xsdivqp 4, 4, 2
.endr
.rept 8
        lwarx 4, 0, 15
        andi. 4, 4, 0
        lwarx 4, 4, 15
        stwcx. 4, 0, 15
.endr
        blr
END chain

FUNCTION fixed
        li 4, 7
        divd 5, 15, 4
        divw 5, 15, 4
        divdu 5, 15, 4
        divde 5, 4, 15
        modsd 5, 15, 4
        moduw 5, 15, 4
        mulld 6, 5, 15
        mulhd 6, 5, 15
        maddld 6, 5, 15, 4
        popcntd 7, 6
        cntlzd 7, 6
        cnttzd 7, 6
        mfxer 8
        mtxer 8
        mfcr 8
        mtcr 8
        mfctr 8
        mtctr 8
        mfspr 8, 256                    /* VRSAVE */
        mtspr 256, 8
        mftb 8
        cmpb 8, 4, 5
        isel 8, 4, 5, 2
        addo. 8, 4, 5
        darn 8, 1
        or 1, 1, 1                      /* priorities: low, medium low, medium */
.rept 30
        addi 8, 8, 1
.endr
        or 6, 6, 6
.rept 30
        addi 8, 8, 1
.endr
        or 2, 2, 2
        blr
END fixed

FUNCTION branch
        mflr 21
        li 4, 5
        mtctr 4
        cmpwi 4, 4
1:      bdnzf 2, 1b
        li 4, 3
        mtctr 4
        cmpw 4, 4
2:      bdnzt 2, 2b
        ADDRESS 4, 3f
        mtctr 4
        beqctr
        nop
3:      ADDRESS 4, 4f
        mtspr 815, 4                    /* TAR */
        bctar 20, 0, 0
        nop
4:      bcl 20, 31, 5f
5:      mflr 4
        bl 6f
        b 7f
6:      cmpwi 4, 0
        bnelr
        blr
7:      mulli 4, 14, 0x6487             /* one of four, in no order */
        rlwinm 4, 4, 27, 28, 29
        ADDRESS 5, 8f
        add 5, 5, 4
        mtctr 5
        bctr
8:      nop
        nop
        nop
        nop
        andi. 4, 4, 8
        beq 9f
        nop
9:      ADDRESS 5, 10f
        mulli 4, 14, 0x6487
        rlwinm 4, 4, 25, 28, 29
        add 5, 5, 4
        mtctr 5
        bctrl
        mtlr 21
        blr
10:     nop
        nop
        nop
        nop
        blr
END branch

FUNCTION deep
        mflr 0
        stdu 0, -16(1)
        addic. 20, 20, -1
        beq 1f
        bl deep
1:      ld 0, 0(1)
        addi 1, 1, 16
        mtlr 0
        blr
END deep

/* Returns to where no call was. */
FUNCTION spoil
        mflr 21
        bl 1f
        nop
1:      ADDRESS 4, 2f
        mtlr 4
        blr
2:      mtlr 21
        blr
END spoil

/* A function on each page; it is written, executed, read and written again. */
FUNCTION walk_code
        mflr 21
        ADDRESS 8, code
        lis 5, 0x4e80                   /* blr */
        ori 5, 5, 0x20
        li 9, PAGES
        mr 22, 9
1:      stw 5, 0(8)
        dcbst 0, 8
        sync
        icbi 0, 8
        isync
        mtctr 8
        bctrl
        ld 4, 64(8)
        addi 8, 8, PAGE + LINE
        addic. 22, 22, -1
        bne 1b
        ADDRESS 8, code
        mr 22, 9
2:      mtctr 8
        bctrl
        std 4, 64(8)
        addi 8, 8, PAGE + LINE
        addic. 22, 22, -1
        bne 2b
        mtlr 21
        blr
END walk_code

/* Prefetches of another page each, in each slice; and of lines that are used once. */
FUNCTION prefetch
        ADDRESS 8, big
        li 9, 150
        mtctr 9
        lis 7, 1
        addi 7, 7, 8
1:      dcbt 0, 8
        add 8, 8, 7
        bdnz 1b
        ADDRESS 8, big
        mtctr 9
        addi 7, 7, LINE
2:      dcbtt 0, 8
        add 8, 8, 7
        bdnz 2b
        ADDRESS 8, big
        mtctr 9
        addi 7, 7, LINE
3:      dcbtst 0, 8
        add 8, 8, 7
        bdnz 3b
        blr
END prefetch

/* Each line is stored to and loaded; then loads of which each needs the one before, by far steps. */
FUNCTION walk
        ADDRESS 8, big
        lis 9, (BIG / LINE)@h
        ori 9, 9, (BIG / LINE)@l
        mtctr 9
1:      std 9, 0(8)
        addi 8, 8, LINE
        bdnz 1b
        ADDRESS 8, big
        mtctr 9
2:      ld 4, 0(8)
        addi 8, 8, LINE
        bdnz 2b
        ADDRESS 8, big
        li 9, 5000
        mtctr 9
        li 4, 0
        lis 7, (BIG - 1)@h
        ori 7, 7, 0xff80
        lis 6, 0x12
        ori 6, 6, 0x3480
        li 5, 0
3:      add 5, 5, 6
        and 5, 5, 7
        add 5, 5, 4
        ldx 4, 8, 5
        andi. 4, 4, 0
        bdnz 3b
        blr
END walk

/* Linux has pages of 4 or of 64 KiB. */
.bss
.balign 65536
data: .skip 65536
code: .skip PAGES * (PAGE + LINE)
.balign 65536
big: .skip BIG + 2 * PAGE
