/*
 * kinds [N]: instructions of several kinds, N times (100,000 without an argument).
 *
 *   in each turn                                instructions  micro-operations
 *   packed SSE: addps                           1             1
 *   scalar SSE: addsd                           1             1
 *   x87: fld1, fstp                             2             2
 *   MMX: paddb, emms                            2             2
 *   locked: lock incl                           1             3 (reads, adds, writes)
 *   prefetches: T0, NTA                         2             2
 *   clflush                                     1             1
 *   a load of FS                                1             8 (microcode)
 *   the end of the turn                         2             2
 *   sum                                         13            22
 *
 * Without an argument:
 *   instructions       3 + 1 + 13N + 3    = 13N + 7  = 1,300,007
 *   branches           1 + N              = N + 1    =   100,001
 *   micro-operations   4 + 1 + 22N + 10   = 22N + 15 = 2,200,015 (a comparison with memory 2, syscall 8)
 */
#include "start.h"

START 100000
        xor %edx, %edx
END _start

FUNCTION kinds
1:      addps %xmm1, %xmm0
        addsd %xmm3, %xmm2
        fld1
        fstp %st(0)
        paddb %mm1, %mm0
        emms
        lock incl -64(%rsp)
        prefetcht0 (%rsp)
        prefetchnta (%rsp)
        clflush -64(%rsp)
        mov %edx, %fs                   /* the null selector */
        dec %rcx
        jnz 1b
        EXIT
END kinds
