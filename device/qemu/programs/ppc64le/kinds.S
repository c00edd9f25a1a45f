/*
 * kinds [N]: instructions of several kinds, N times (100,000 without an argument).
 *
 *   in each turn                                              instructions
 *   scalar floating point: xsadddp, fmadd, fdiv               3
 *   vector floating point: xvadddp                            1
 *   a floating-point move: fmr                                1
 *   vectors: lvx, stvx                                        2
 *   a reservation: lwarx, stwcx., and one that has none       3
 *   barriers: sync, lwsync, isync                             3
 *   a prefetch: dcbt                                          1
 *   the end of the turn                                       2
 *   sum                                                       16
 *
 * Without an argument:
 *   instructions       5 + 2 + 16N + 3    = 16N + 10 = 1,600,010
 *   branches           1 + N              = N + 1    =   100,001
 */
#include "start.h"

START 100000
        addi 8, 1, -256
        clrrdi 8, 8, 4
END _start

FUNCTION kinds
1:      xsadddp 0, 1, 2
        fmadd 3, 4, 5, 6
        fdiv 7, 4, 5
        xvadddp 32, 33, 34
        fmr 8, 9
        lvx 3, 0, 8
        stvx 3, 0, 8
        lwarx 9, 0, 8
        stwcx. 9, 0, 8
        stwcx. 9, 0, 8
        sync
        lwsync
        isync
        dcbt 0, 8
        addic. 5, 5, -1
        bne 1b
        EXIT
END kinds
