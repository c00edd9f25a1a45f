/* The registers of the PMUs of x86. */
#ifndef PMU_H
#define PMU_H

#include <stdint.h>

static inline uint64_t read_msr(uint32_t number)
{
    uint32_t low, high;
    __asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(number) : "memory");
    return (uint64_t)high << 32 | low;
}

static inline void write_msr(uint32_t number, uint64_t value)
{
    __asm__ volatile("wrmsr" : : "c"(number), "a"((uint32_t)value), "d"((uint32_t)(value >> 32)) : "memory");
}

static inline uint64_t read_pmc(uint32_t number)
{
    uint32_t low, high;
    __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(number) : "memory");
    return (uint64_t)high << 32 | low;
}

/* Has the processor call `handler`, which is `__attribute__((interrupt))`, at an interrupt. */
void set_gate(uint8_t vector, const void *handler);

#endif
