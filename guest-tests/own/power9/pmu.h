/* The registers of POWER9's PMU, by their privileged numbers (Power ISA 3.0B, book III, 9.4). */
#ifndef PMU_H
#define PMU_H

#include <stdint.h>

enum {
    MMCR2 = 785,
    MMCRA = 786,
    PMC1 = 787,
    PMC2,
    PMC3,
    PMC4,
    PMC5,
    PMC6,
    MMCR0 = 795,
    SIAR,
    SDAR,
    MMCR1,
};

/* The number of a register is part of the instruction. */
#define read_spr(number)                                                             \
    ({                                                                               \
        uint64_t value_;                                                             \
        __asm__ volatile("mfspr %0, %1" : "=r"(value_) : "i"(number) : "memory");   \
        value_;                                                                      \
    })
#define write_spr(number, value) __asm__ volatile("mtspr %0, %1" : : "i"(number), "r"((uint64_t)(value)) : "memory")

#endif
