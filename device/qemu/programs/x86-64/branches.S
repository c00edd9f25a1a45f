/*
 * branches [N]: each kind of branch a known number of times (N is 100,000 without an argument; it is even).
 *
 *   in each turn                       instructions  branches  taken
 *   a branch that is always taken      2             1         1
 *   a branch that is never taken       1             1         0
 *   a branch taken every second turn   2             1         1/2
 *   a jump                             1             1         1
 *   a call and its return              2             2         2
 *   an indirect call and its return    2             2         2
 *   the end of the turn                2             1         1, except for the last
 *   sum                                12            9         7 1/2
 *
 * Without an argument:
 *   instructions       3 + 1 + 12N + 3    = 12N + 7    = 1,200,007
 *   branches           1 + 9N             = 9N + 1     =   900,001
 *   taken              1 + 7N + N/2 - 1   = 7N + N/2   =   750,000
 *   not taken          N + N/2 + 1        =                150,001
 *   calls, returns     2N, 2N             =                200,000 of each
 *   mispredictions are not known beforehand: they depend on the predictor.
 */
#include "start.h"

START 100000
        lea callee(%rip), %r8
END _start

FUNCTION turn
1:      cmp %ecx, %ecx
        je 2f                           /* always */
        nop
2:      jne 3f                          /* never: the comparison above holds */
3:      test $1, %cl
        jnz 4f                          /* every second turn */
4:      jmp 5f
        nop
5:      call callee
        call *%r8
        dec %rcx
        jnz 1b
        EXIT
END turn

FUNCTION callee
        ret
END callee
