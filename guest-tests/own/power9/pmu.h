/* The registers of POWER9's PMU, by their privileged numbers (Power ISA 3.0B, book III, 9.4), and its interrupts. */
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

/* What was interrupted, which continues with what a handler leaves here. A handler may not change other registers than a function may. */
struct interrupt {
    uint64_t gpr[13];
    uint64_t lr, ctr, cr, xer;
    /* SRR0 and SRR1, or HSRR0 and HSRR1. */
    uint64_t address, msr;
    uint64_t vector;
};

/* Has `handler` called at the interrupt whose vector is at `vector`, from 100h to FE0h: F00h is the performance monitor's. MSR[EE] is 0 then. */
void set_vector(uint16_t vector, void (*handler)(struct interrupt *));

/* MSR[EE]: whether the performance monitor interrupts. */
static inline void set_ee(uint64_t ee)
{
    uint64_t msr;
    __asm__ volatile("mfmsr %0" : "=r"(msr) : : "memory");
    __asm__ volatile("mtmsrd %0, 1" : : "r"((msr & ~UINT64_C(0x8000)) | ee << 15) : "memory");
}

static inline void enable_interrupts(void)
{
    set_ee(1);
}

static inline void disable_interrupts(void)
{
    set_ee(0);
}

#endif
