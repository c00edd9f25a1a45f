/* void loop(uint64_t turns) */
        .intel_syntax noprefix
        .text
        .global loop, loop_begin, loop_end
        .type   loop, @function
loop:
loop_begin:
        dec     rdi
        jnz     loop_begin
loop_end:
        ret
        .size   loop, . - loop

        .section .note.GNU-stack, "", @progbits
