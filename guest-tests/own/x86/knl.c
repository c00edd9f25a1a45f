/* Counts the instructions of a loop with counter 0 of Knights Landing: `pmulab encode --pmu knl INST_RETIRED:k` has the values. */
#include "../guest.h"
#include "count.h"
#include "pmu.h"

enum { IA32_PERFEVTSEL0 = 0x186, IA32_PERF_GLOBAL_CTRL = 0x38f, IA32_A_PMC0 = 0x4c1 };

int main(void)
{
    write_msr(IA32_PERF_GLOBAL_CTRL, 0);
    write_msr(IA32_A_PMC0, 0);
    write_msr(IA32_PERFEVTSEL0, 0x4200c0);
    write_msr(IA32_PERF_GLOBAL_CTRL, 1);
    uint32_t count = counted();
    write_msr(IA32_PERF_GLOBAL_CTRL, 0);

    say("counted ");
    say_number(count);
    say("\n");
    check("instructions of the loop", count, COUNTED);
    check("a stopped counter stays", read_msr(IA32_A_PMC0), read_pmc(0));
    return 0;
}
