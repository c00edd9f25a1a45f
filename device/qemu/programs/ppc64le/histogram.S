/*
 * histogram [N]: three functions that execute 60, 30 and 10 % of the instructions (N is 100,000 without an argument).
 *
 * Each function is a loop of five instructions, made 6N, 3N and N times: 30N, 15N and 5N instructions.
 * Without an argument:
 *   instructions       5 (START) + 3 calls of (1 + 1 + 1 + 1) + 50N + 3 (EXIT) = 50N + 20 = 5,000,020
 *   branches           1 + 3 calls + 3 returns + 10N  = 10N + 7  = 1,000,007
 *   taken              1 + 3 + 3 + (10N - 3)          = 10N + 4  = 1,000,004
 */
#include "start.h"

.macro LOOP name
FUNCTION \name
        mtctr 3
1:      addi 6, 6, 1
        xor 7, 7, 6
        addi 8, 7, 3
        rotldi 9, 8, 5
        bdnz 1b
        blr
END \name
.endm

START 100000
        mulli 3, 5, 6
        bl sixty
        mulli 3, 5, 3
        bl thirty
        mulli 3, 5, 1
        bl ten
        EXIT
END _start

LOOP sixty
LOOP thirty
LOOP ten
