/*
 * The beginning and the end of every program.
 *
 * START n        N in r5: the program's argument in decimal, or n.
 *                Without an argument: 5 instructions, 1 branch, taken.
 *                With one of D digits: 10 + 7D instructions, 2 + 2D branches, 1 + D of them taken.
 * EXIT           3 instructions: exit(0).
 * FUNCTION name  A symbol with type and size, which perf report names; END name closes it.
 */
.macro START n
.globl _start
.type _start, @function
_start:
        ld 4, 0(1)                      /* argc */
        lis 5, (\n)@h
        ori 5, 5, (\n)@l
        cmpldi 4, 2
        blt 9f
        ld 6, 16(1)                     /* argv[1] */
        li 5, 0
8:      lbz 7, 0(6)
        addic. 7, 7, -'0'
        blt 9f                          /* the zero byte at the end */
        mulli 5, 5, 10
        add 5, 5, 7
        addi 6, 6, 1
        b 8b
9:
.endm

.macro EXIT
        li 0, 1
        li 3, 0
        sc
.endm

.macro FUNCTION name
.type \name, @function
\name:
.endm

.macro END name
.size \name, . - \name
.endm

.abiversion 2
.section .note.GNU-stack, "", @progbits
.text
