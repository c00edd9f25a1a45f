/* Counts the instructions of a loop with counter 0 of a K8: `pmulab encode --pmu k8 RETIRED_INSTRUCTIONS:k` has the value of its select. */
#include "../guest.h"
#include "count.h"
#include "pmu.h"

enum { PERF_EVT_SEL0 = 0xc0010000, PERF_CTR0 = 0xc0010004 };

int main(void)
{
    write_msr(PERF_CTR0, 0);
    write_msr(PERF_EVT_SEL0, 0x4200c0);
    uint32_t count = counted();
    write_msr(PERF_EVT_SEL0, 0);

    say("counted ");
    say_number(count);
    say("\n");
    check("instructions of the loop", count, COUNTED);
    check("a stopped counter stays", read_msr(PERF_CTR0), read_pmc(0));
    return 0;
}
