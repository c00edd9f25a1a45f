/* A loop whose instructions are known, with the counter read before and after it. */
#ifndef COUNT_H
#define COUNT_H

#include <stdint.h>

enum { TURNS = 1000, COUNTED = 1 + 2 + 2 * TURNS };

/* What counter 0 counted from one RDPMC to the next: the first itself, the two MOV, and DEC and JNZ of each turn. */
static inline uint32_t counted(void)
{
    uint32_t count;
    __asm__ volatile(
        "rdpmc\n\t"
        "mov %%eax, %%esi\n\t"
        "mov %[turns], %%edi\n"
        "1:\tdec %%edi\n\t"
        "jnz 1b\n\t"
        "rdpmc\n\t"
        "sub %%esi, %%eax"
        : "=a"(count)
        : "c"(0), [turns] "i"(TURNS)
        : "edx", "esi", "edi", "cc", "memory");
    return count;
}

#endif
