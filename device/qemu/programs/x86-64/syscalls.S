/*
 * syscalls [N]: getppid N times (10,000 without an argument).
 *
 * Without an argument:
 *   instructions of the user   3 + 1 + 4N + 3   = 4N + 7 = 40,007
 *   branches                   1 + N            = N + 1  = 10,001
 *   system calls               N + 1            = 10,001 (the last is exit)
 */
#include "start.h"

START 10000
        mov %rcx, %rbx                  /* syscall writes %rcx */
END _start

FUNCTION call
1:      mov $110, %eax
        syscall
        dec %rbx
        jnz 1b
        EXIT
END call
