/*
 * loop [N]: a loop of five instructions, N times (1,000,000 without an argument).
 *
 * Without an argument:
 *   instructions       3 + 5N + 3       = 5N + 6 = 5,000,006
 *   branches           1 + N            = N + 1  = 1,000,001
 *   taken              1 + (N - 1)      = N      = 1,000,000
 *   loads, stores      1 (argc), 0
 * With an argument of D digits: START's counts for it in place of 3, 1 and 1.
 */
#include "start.h"

START 1000000
END _start

FUNCTION loop
1:      add $1, %rax
        xor %rax, %rdx
        lea 3(%rdx), %rdi
        dec %rcx
        jnz 1b
        EXIT
END loop
