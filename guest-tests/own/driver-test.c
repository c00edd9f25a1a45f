/* The test of a driver that samples, on x86 and on POWER9. */
#include "driver.h"
#include "guest.h"
#include "pmu.h"

/* 105,000 instructions are ten periods and a half. A handler's own instructions are part of the next period: up to 450 of them change nothing,
   as 10 * 10,000 is less than 105,000, and 11 * (10,000 - 450) is more. */
enum { PERIOD = 10000, TURNS = 105000 / 2, SAMPLES = 10 };

static volatile uint64_t samples, outside;

void sampled(uint64_t address)
{
    samples = samples + 1;
    if (address < (uintptr_t)loop_begin || address >= (uintptr_t)loop_end)
        outside = outside + 1;
    sample(address, "sampled");
}

int main(void)
{
    enable_interrupts();
    start_sampling(PERIOD);
    loop(TURNS);
    stop_sampling();
    check("interrupts of 105,000 instructions", samples, SAMPLES);
    check("samples outside the loop", outside, 0);
    loop(TURNS);
    check("interrupts after the stop", samples - SAMPLES, 0);
    disable_interrupts();
    return 0;
}
