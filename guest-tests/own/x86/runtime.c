/* What a guest of x86 needs around its own part. */
#include "../guest.h"
#include "pmu.h"

static inline void out(uint16_t port, uint8_t byte)
{
    __asm__ volatile("out %1, %0" : : "Nd"(port), "a"(byte));
}

void console(char byte)
{
    out(0xe9, (uint8_t)byte);
}

void end(uint8_t status)
{
    for (;;)
        out(0xf4, status);
}

struct gate {
    uint16_t low, selector, kind, middle;
    uint32_t high, reserved;
};

static struct gate idt[256];

/* Has the processor call `handler` at interrupt `vector`. */
void set_gate(uint8_t vector, const void *handler)
{
    uint64_t address = (uintptr_t)handler;
    /* A 64-bit interrupt gate of privilege level 0, in the code segment that the guest was started in. */
    idt[vector] = (struct gate){
        .low = (uint16_t)address,
        .selector = 0x08,
        .kind = 0x8e00,
        .middle = (uint16_t)(address >> 16),
        .high = (uint32_t)(address >> 32),
    };
}

extern const char gates[];

/* What `_start` calls. */
int begin(void)
{
    struct __attribute__((packed)) {
        uint16_t limit;
        const void *base;
    } table = {sizeof idt - 1, idt};

    for (unsigned vector = 0; vector < 32; vector++)
        set_gate((uint8_t)vector, gates + 16 * vector);
    __asm__ volatile("lidt %0" : : "m"(table));
    begin_report();
    return main();
}
