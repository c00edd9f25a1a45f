/*
 * loop [N]: a loop of five instructions, N times (1,000,000 without an argument).
 *
 * Without an argument:
 *   instructions       5 + 1 + 5N + 3   = 5N + 9 = 5,000,009
 *   branches           1 + N            = N + 1  = 1,000,001
 *   taken              1 + (N - 1)      = N      = 1,000,000
 *   loads, stores      1 (argc), 0
 * With an argument of D digits: START's counts for it in place of 5, 1 and 1.
 */
#include "start.h"

START 1000000
        mtctr 5
END _start

FUNCTION loop
1:      addi 6, 6, 1
        xor 7, 7, 6
        addi 8, 7, 3
        rotldi 9, 8, 5
        bdnz 1b
        EXIT
END loop
