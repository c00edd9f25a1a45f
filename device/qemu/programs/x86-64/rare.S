/*
 * rare [N]: what other programs hardly do, N times (1,000 without an argument).
 *
 *   - stores into the program's own code, before and after it is executed; code that was data, on many pages
 *   - stores around the caches, of whole lines and of parts; prefetches of all kinds; CLFLUSH
 *   - accesses that are not aligned, within a line, across lines and across pages; locked ones too
 *   - loads that need an earlier store, of other sizes, or before the store has its data
 *   - x87 comparisons that set flags, divisions and square roots of all kinds, operations of one type on the result of another
 *   - loads of segment registers, by moves, pops, far returns and IRET
 *   - CPUID, RDTSC, fences, string instructions, INT 80h
 *   - calls that are deeper than any return stack, returns to other places, indirect jumps that change their target
 *
 * It has no known counts.
 */
#include "start.h"

#define PAGES 600
#define PAGE 4096

START 1000
        mov %rcx, %rbx                  /* system calls write %rcx */
        lea own(%rip), %rdi
        mov $PAGE, %esi
        call writable
        lea code(%rip), %rdi
        mov $PAGES * (PAGE + 64), %esi
        call writable
END _start

FUNCTION turn
        call store_code
        call stream
        call misalign
        call forward
        call compute
        call segments
        call special
        mov $40, %edx
        call deep
        call jump
        test $63, %bl
        jnz 1f
        call walk_code
1:      dec %rbx
        jnz turn
        EXIT
END turn

/* Makes %rsi bytes at %rdi a program's own to write and to execute. */
FUNCTION writable
        mov $10, %eax                   /* mprotect */
        mov $7, %edx
        syscall
        ret
END writable

FUNCTION store_code
        mov %bl, own+1(%rip)            /* the constant of the first instruction */
        call own
        mov %bl, own+1(%rip)
        lock incb own+1(%rip)
        call own
        ret
END store_code

/* A function on each page that returns; it is written, executed, read and written again. */
FUNCTION walk_code
        lea code(%rip), %rdi
        mov $PAGES, %edx
1:      movb $0xc3, 8(%rdi)
        movb $0xc3, 72(%rdi)
        lea 8(%rdi), %rax
        call *%rax
        mov 16(%rdi), %rax
        add $64 + PAGE, %rdi
        dec %edx
        jnz 1b
        lea code(%rip), %rdi
        mov $PAGES - 10, %edx
2:      lea 8(%rdi), %rax
        call *%rax
        mov 24(%rdi), %rax
        incb 32(%rdi)
        add $64 + PAGE, %rdi
        dec %edx
        jnz 2b
        ret
END walk_code

FUNCTION stream
        lea data(%rip), %rdi
        mov $16, %edx
1:      movnti %rax, (%rdi)
        movnti %rax, 8(%rdi)
        movntps %xmm0, 16(%rdi)
        movntdq %xmm0, 32(%rdi)
        movntpd %xmm0, 48(%rdi)
        movntq %mm0, 64(%rdi)
        emms
        prefetcht0 1024(%rdi)
        prefetcht1 2048(%rdi)
        prefetcht2 3072(%rdi)
        prefetchnta 4096(%rdi)
        prefetchw 5120(%rdi)
        clflush 6144(%rdi)
        add $128, %rdi
        dec %edx
        jnz 1b
        sfence
        lfence
        mfence
        ret
END stream

FUNCTION misalign
        lea data(%rip), %rdi
        mov 61(%rdi), %rax
        mov %rax, 125(%rdi)
        mov 3(%rdi), %rax
        mov %rax, 5(%rdi)
        mov PAGE-3(%rdi), %rax
        mov %rax, PAGE-5(%rdi)
        movups 57(%rdi), %xmm1
        movups %xmm1, 121(%rdi)
        lock incq 188(%rdi)
        lock incl 256(%rdi)
        xchg %rax, 264(%rdi)
        lock cmpxchg %rdx, 272(%rdi)
        lock xadd %rax, 280(%rdi)
        ret
END misalign

FUNCTION forward
        lea data(%rip), %rdi
        mov %eax, (%rdi)
        mov (%rdi), %rax                /* wider than the store */
        movb %al, 16(%rdi)
        mov 15(%rdi), %edx
        mov %rax, 32(%rdi)
        mov 36(%rdi), %edx
        imul %rdx, %rdx
        imul %rdx, %rdx
        imul %rdx, %rdx
        mov %rdx, 48(%rdi)              /* its data come late */
        mov 48(%rdi), %rax
        and $0xff8, %eax
        mov %rdx, 512(%rdi,%rax)        /* so does its address */
        mov 512(%rdi), %rdx
.irp offset, 0, 64, 128, 192, 256, 320, 384, 448, 512, 576, 640, 704, 768, 832, 896, 960
        mov %rax, 8192+\offset(%rdi)
        mov %rax, 8192+1024+\offset(%rdi)
        mov 16384+\offset(%rdi), %r8
        mov 16384+1024+\offset(%rdi), %r9
.endr
        ret
END forward

FUNCTION compute
        fld1
        fldpi
        fcomi %st(1), %st
        jb 1f
1:      fcmovb %st(1), %st
        fucomi %st(1), %st
        fdivp
        fsqrt
        fsin
        fstp %st(0)
        movdqa data(%rip), %xmm0
        paddd %xmm0, %xmm0
        addps %xmm0, %xmm1              /* of an integer's result */
        mulpd %xmm1, %xmm2              /* doubles of singles */
        cvtps2pd %xmm2, %xmm3
        divpd %xmm3, %xmm2
        divps %xmm2, %xmm4
        sqrtsd %xmm4, %xmm5
        sqrtps %xmm4, %xmm5
        movq2dq %mm0, %xmm6
        addsd %xmm6, %xmm7
        cvtsi2sd %rax, %xmm8
        cvttsd2si %xmm8, %rax
        emms
.rept 24
        mulps %xmm1, %xmm1
        addps %xmm1, %xmm2
        mulps %xmm3, %xmm3
.endr
        mov $1000003, %eax
        xor %edx, %edx
        mov $7, %ecx
        div %rcx
        cqo
        idiv %rcx
        mul %rcx
        bsf %rcx, %rax
        ret
END compute

FUNCTION segments
        xor %eax, %eax
        mov %eax, %es
        mov %eax, %ds
        mov %eax, %fs
        mov %eax, %gs
        push $0
        pop %fs
        mov %ss, %eax
        mov %eax, %ss
        mov %cs, %edx
        lea 1f(%rip), %rcx
        push %rdx
        push %rcx
        lretq
1:      mov %rsp, %rcx
        push %rax                       /* SS, RSP, RFLAGS, CS, RIP */
        push %rcx
        pushfq
        push %rdx
        lea 2f(%rip), %rcx
        push %rcx
        iretq
2:      ret
END segments

FUNCTION special
        mov %rbx, %r12
        xor %eax, %eax
        cpuid
        mov %r12, %rbx
        rdtsc
        lea data(%rip), %rdi
        lea 8192(%rdi), %rsi
        mov $200, %ecx
        rep movsb
        lea data(%rip), %rdi
        mov $50, %ecx
        xor %eax, %eax
        rep stosl
        lea data(%rip), %rdi
        mov $50, %ecx
        repe scasb
        mov $20, %eax                   /* getpid of 32 bits */
        int $0x80
        pushfq
        popfq
        pause
        ret
END special

FUNCTION deep
        dec %edx
        jz 1f
        call deep
1:      ret
END deep

FUNCTION jump
        lea 1f(%rip), %rax
        push %rax
        ret                             /* to where no call was */
1:      mov %ebx, %eax
        imul $0x6487, %eax, %eax
        shr $5, %eax
        and $3, %eax
        lea 2f(%rip), %rdx
        lea (%rdx,%rax,2), %rdx
        jmp *%rdx
2:      nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        lea 3f(%rip), %rdx
        lea (%rdx,%rax,2), %rdx
        call *%rdx
        test $2, %al
        jz 4f
        nop
4:      ret
3:      nop
        nop
        nop
        nop
        nop
        nop
        ret
END jump

.section .writable, "aw", @progbits
.balign PAGE
FUNCTION own
        mov $0, %al
        mov %bl, 1f+1(%rip)             /* in the line that is being executed */
1:      mov $0, %al
        ret
END own
.balign PAGE

.bss
.balign PAGE
data: .skip 16 * PAGE
code: .skip PAGES * (PAGE + 64)
