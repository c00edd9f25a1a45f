/* Counts the instructions of a loop with PMC1 of POWER9: `pmulab encode --pmu power9 PM_INST_CMPL` has the values. */
#include "../guest.h"
#include "pmu.h"

enum { TURNS = 1000, COUNTED = 1 + 2 + TURNS };

/* MMCR0: the counters are frozen, or PMC5 and PMC6 alone. */
#define FC 0x80000000
#define FC56 0x10

int main(void)
{
    uint64_t before, after;

    write_spr(MMCR0, FC);
    write_spr(MMCRA, 0);
    write_spr(MMCR1, 0x2000000);
    write_spr(MMCR2, 0);
    write_spr(PMC1, 0);
    write_spr(MMCR0, FC56);
    /* From one MFSPR to the next there are the first itself, LI, MTCTR, and BDNZ of each turn. */
    __asm__ volatile(
        "mfspr %[before], %[pmc1]\n\t"
        "li %[after], %[turns]\n\t"
        "mtctr %[after]\n"
        "1:\tbdnz 1b\n\t"
        "mfspr %[after], %[pmc1]"
        : [before] "=&r"(before), [after] "=&r"(after)
        : [pmc1] "i"(PMC1), [turns] "i"(TURNS)
        : "ctr", "memory");
    write_spr(MMCR0, FC);

    say("counted ");
    say_number(after - before);
    say("\n");
    check("instructions of the loop", after - before, COUNTED);
    uint64_t frozen = read_spr(PMC1);
    check("a frozen counter stays", read_spr(PMC1), frozen);
    return 0;
}
