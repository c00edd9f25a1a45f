/*
 * The beginning and the end of every program.
 *
 * START n        N in %rcx: the program's argument in decimal, or n.
 *                Without an argument: 3 instructions, 1 branch, taken.
 *                With one of D digits: 8 + 7D instructions, 2 + 2D branches, 1 + D of them taken.
 * EXIT           3 instructions: exit(0).
 * FUNCTION name  A symbol with type and size, which perf report names; END name closes it.
 */
.macro START n
.globl _start
.type _start, @function
_start:
        mov $\n, %ecx
        cmpq $2, (%rsp)                 /* argc */
        jb 9f
        mov 16(%rsp), %rsi              /* argv[1] */
        xor %ecx, %ecx
8:      movzbl (%rsi), %eax
        sub $'0', %eax
        jb 9f                           /* the zero byte at the end */
        imul $10, %rcx, %rcx
        add %rax, %rcx
        inc %rsi
        jmp 8b
9:
.endm

.macro EXIT
        mov $60, %eax
        xor %edi, %edi
        syscall
.endm

.macro FUNCTION name
.type \name, @function
\name:
.endm

.macro END name
.size \name, . - \name
.endm

.section .note.GNU-stack, "", @progbits
.text
