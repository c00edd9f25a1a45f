/* What a guest of POWER9 needs around its own part. */
#include "../guest.h"

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

/* What `_start` calls. */
int begin(void)
{
    begin_report();
    return main();
}
