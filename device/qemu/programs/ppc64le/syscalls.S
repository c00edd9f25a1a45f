/*
 * syscalls [N]: getppid N times (10,000 without an argument).
 *
 * Without an argument:
 *   instructions of the user   5 + 1 + 4N + 3   = 4N + 9 = 40,009
 *   branches                   1 + N            = N + 1  = 10,001 (sc is not one)
 *   system calls               N + 1            = 10,001 (the last is exit)
 */
#include "start.h"

START 10000
        mr 14, 5                        /* sc may write r5 */
END _start

FUNCTION call
1:      li 0, 64
        sc
        addic. 14, 14, -1
        bne 1b
        EXIT
END call
