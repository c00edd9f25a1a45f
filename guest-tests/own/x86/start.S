/* Start-up of a guest of x86, and the gates of its exceptions. `pmulab` starts every CPU here in 64-bit mode, with a stack, with paging, with
   interrupts disabled and with the CPU's number in RDI. */
        .intel_syntax noprefix
        .section .text.start, "ax"
        .global _start
        .type   _start, @function
_start:
        test    rdi, rdi
        jnz     idle
        call    begin
        mov     edi, eax
        call    end
idle:
        hlt
        jmp     idle
        .size   _start, . - _start

/* One gate for each exception, 16 bytes apart. Below what the processor pushed lie the vector and, if the exception has none, an error
   code of 0: vectors 8, 10 to 14, 17 and 21 have one. */
        .global gates
        .balign 16
        .set    vector, 0
gates:
        .rept   32
        .balign 16
        .if     ((1 << vector) & 0x227d00) == 0
        push    0
        .endif
        push    vector
        jmp     exception
        .set    vector, vector + 1
        .endr

        .type   exception, @function
exception:
        pop     rdi
        add     rsp, 8
        mov     rsi, [rsp]
        and     rsp, -16
        call    unexpected
        .size   exception, . - exception

        .section .note.GNU-stack, "", @progbits
