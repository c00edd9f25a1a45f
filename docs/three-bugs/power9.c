/* A driver of POWER9's counters, and its test: it takes a sample every 1,000 instructions, and counts loads and the instructions of `run`. Five of its
   lines are wrong; the first MENDED of them are right. */
#include "guest.h"
#include "pmu.h"

#ifndef MENDED
#define MENDED 0
#endif

/* MMCR0 (POWER9 PMU User's Guide, A.3). */
#define FC UINT64_C(0x80000000)
#define PMAE UINT64_C(0x04000000)
#define FCECE UINT64_C(0x02000000)
#define PMCJCE UINT64_C(0x4000)
#define FC56 UINT64_C(0x10)
/* MMCR2: PMC4 stands still in hypervisor state. */
#define FC4H (UINT64_C(1) << (63 - 33))

enum { PERIOD = 1000, LOADS = 4000, PERFORMANCE_MONITOR = 0xf00, NEGATIVE = 1u << 31 };

/* ---- The driver ---- */

static volatile uint64_t samples;

/* PMC2: 02h, PM_INST_CMPL. PMC4: 3Eh, PM_LD_CMPL. */
#if MENDED >= 1
#define SELECT UINT64_C(0x0002003e)
#else
#define SELECT UINT64_C(0x0000023e)
#endif

static uint64_t running(void)
{
#if MENDED >= 5
    return PMAE | FCECE | PMCJCE;
#else
    return PMAE | FCECE | PMCJCE | FC56;
#endif
}

static void overflow(struct interrupt *interrupt)
{
    (void)interrupt;
    uint64_t mmcr0 = read_spr(MMCR0);
    sample(read_spr(SIAR), "sample");
    samples = samples + 1;
#if MENDED >= 3
    write_spr(PMC2, NEGATIVE - PERIOD);
#else
    write_spr(PMC2, NEGATIVE);
#endif
#if MENDED >= 4
    (void)mmcr0;
    write_spr(MMCR0, running());
#else
    write_spr(MMCR0, (mmcr0 & ~FC) | PMAE);
#endif
}

static void start(void)
{
    write_spr(MMCR0, FC);
    write_spr(MMCRA, 0);
    write_spr(MMCR1, SELECT);
#if MENDED >= 2
    write_spr(MMCR2, 0);
#else
    write_spr(MMCR2, FC4H);
#endif
    write_spr(PMC2, NEGATIVE - PERIOD);
    write_spr(PMC4, 0);
    write_spr(PMC5, 0);
    write_spr(MMCR0, running());
}

/* ---- Its test ---- */

static volatile uint64_t cells[64];

int main(void)
{
    /* CTRL: the run latch. */
    write_spr(152, 1);
    set_vector(PERFORMANCE_MONITOR, overflow);
    enable_interrupts();
    start();
    for (int turn = 0; turn < LOADS; turn++)
        (void)cells[turn % 64];
    write_spr(MMCR0, FC);
    disable_interrupts();
    check_range("samples", samples, 15, 60);
    check_range("loads", read_spr(PMC4), LOADS, LOADS + 1500);
    check_range("instructions of the run latch", read_spr(PMC5), 15000, 60000);
    return 0;
}
