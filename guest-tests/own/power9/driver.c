/* A driver that samples instructions with PMC1 of POWER9: `pmulab encode --pmu power9 PM_INST_CMPL:int:pmc=1` has the values. */
#include "driver.h"
#include "pmu.h"

/* MMCR0: counters are frozen; alerts are enabled; an alert freezes; PMC1 alerts when it is negative. */
#define FC 0x80000000
#define PMAE 0x4000000
#define FCECE 0x2000000
#define PMC1CE 0x8000

/* A counter is negative from here on. */
#define NEGATIVE 0x80000000

enum { PERFORMANCE_MONITOR = 0xf00 };

static uint64_t until_negative;

/* The alert has cleared PMAE, and set PMAO and FC: a whole MMCR0 takes all of that back. */
static void count_next_period(void)
{
    write_spr(PMC1, until_negative);
    write_spr(MMCR0, PMAE | FCECE | PMC1CE);
}

static void overflow(struct interrupt *interrupt)
{
    (void)interrupt;
    sampled(read_spr(SIAR));
    count_next_period();
}

void start_sampling(uint64_t period)
{
    write_spr(MMCR0, FC);
    write_spr(MMCRA, 0);
    write_spr(MMCR1, 0x2000000);
    write_spr(MMCR2, 0);
    set_vector(PERFORMANCE_MONITOR, overflow);
    until_negative = NEGATIVE - period;
    count_next_period();
}

void stop_sampling(void)
{
    write_spr(MMCR0, FC);
}
