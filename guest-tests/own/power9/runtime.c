/* What a guest of POWER9 needs around its own part. */
#include "../guest.h"
#include "pmu.h"

/* The console and the register that ends the run: bytes of a device far above memory. */
static void store(uint64_t offset, uint8_t byte)
{
    *(volatile uint8_t *)(0x1000000000000 + offset) = byte;
}

void console(char byte)
{
    store(0xe9, (uint8_t)byte);
}

void end(uint8_t status)
{
    for (;;)
        store(0xf4, status);
}

enum { FIRST = 0x100, BEYOND = 0x1000, APART = 32 };

static void (*handlers[(BEYOND - FIRST) / APART])(struct interrupt *);

void set_vector(uint16_t vector, void (*handler)(struct interrupt *))
{
    if (vector >= FIRST && vector < BEYOND)
        handlers[(vector - FIRST) / APART] = handler;
}

_Static_assert(sizeof(struct interrupt) == 160, "start.S has its size, and the places in it");

/* What the vectors call. */
void interrupted(struct interrupt *interrupt)
{
    void (*handler)(struct interrupt *) = handlers[(interrupt->vector - FIRST) / APART];
    if (!handler)
        unexpected(interrupt->vector, interrupt->address);
    handler(interrupt);
}

/* What `_start` calls. */
int begin(void)
{
    begin_report();
    return main();
}
