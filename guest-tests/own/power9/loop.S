/* void loop(uint64_t turns) */
#include "abi.h"

        .text
        FUNCTION(loop)
        mtctr   3
        .global loop_begin, loop_end
loop_begin:
        nop
        bdnz    loop_begin
loop_end:
        blr
        .size   CODE(loop), . - CODE(loop)

        .section .note.GNU-stack, "", @progbits
