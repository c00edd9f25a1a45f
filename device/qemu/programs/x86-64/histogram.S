/*
 * histogram [N]: three functions that execute 60, 30 and 10 % of the instructions (N is 100,000 without an argument).
 *
 * Each function is a loop of five instructions, made 6N, 3N and N times: 30N, 15N and 5N instructions.
 * Without an argument:
 *   instructions       3 (START) + 3 calls of (2 + 1 + 1) + 1 + 50N + 3 (EXIT) = 50N + 19 = 5,000,019
 *   branches           1 + 3 calls + 3 returns + 10N  = 10N + 7  = 1,000,007
 *   taken              1 + 3 + 3 + (10N - 3)          = 10N + 4  = 1,000,004
 */
#include "start.h"

.macro LOOP name
FUNCTION \name
1:      add $1, %rax
        xor %rax, %rdx
        lea 3(%rdx), %rsi
        dec %rdi
        jnz 1b
        ret
END \name
.endm

START 100000
        mov %rcx, %rbx
        lea (%rbx,%rbx,2), %rdi
        add %rdi, %rdi                  /* 6N */
        call sixty
        lea (%rbx,%rbx,2), %rdi         /* 3N */
        nop
        call thirty
        mov %rbx, %rdi                  /* N */
        nop
        call ten
        EXIT
END _start

LOOP sixty
LOOP thirty
LOOP ten
