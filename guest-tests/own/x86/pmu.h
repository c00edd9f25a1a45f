/* The registers of the PMUs of x86, and their interrupts. */
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

/* What an interrupt pushes. */
struct frame {
    uint64_t rip, cs, rflags, rsp, ss;
};

/* Has the processor call `handler`, which is `__attribute__((interrupt))`, at an interrupt: 2 is the NMI. */
void set_gate(uint8_t vector, const void *handler);

/* Registers of the local APIC: it is enabled, and what it does with an overflow. */
enum { APIC_SPURIOUS = 0xf0, APIC_LVT_PERFORMANCE = 0x340 };
enum { APIC_ENABLED = 0x1ff, LVT_NMI = 0x400 };

static inline void write_apic(uint32_t offset, uint32_t value)
{
    *(volatile uint32_t *)(uintptr_t)(0xfee00000 + offset) = value;
}

/* RFLAGS.IF, which an NMI does not need. */
static inline void enable_interrupts(void)
{
    __asm__ volatile("sti" : : : "memory");
}

static inline void disable_interrupts(void)
{
    __asm__ volatile("cli" : : : "memory");
}

#endif
