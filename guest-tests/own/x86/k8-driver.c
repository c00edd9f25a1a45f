/* A driver that samples instructions with counter 0 of a K8: `pmulab encode --pmu k8 RETIRED_INSTRUCTIONS:k:int` has the value of its select. */
#include "driver.h"
#include "pmu.h"

enum { PERF_EVT_SEL0 = 0xc0010000, PERF_CTR0 = 0xc0010004, NMI = 2 };

static uint64_t before_overflow;

static void count_next_period(void)
{
    write_msr(PERF_CTR0, before_overflow);
    write_msr(PERF_EVT_SEL0, 0x5200c0);
}

__attribute__((interrupt)) static void overflow(struct frame *frame)
{
    write_msr(PERF_EVT_SEL0, 0);
    sampled(frame->rip);
    count_next_period();
}

void start_sampling(uint64_t period)
{
    set_gate(NMI, overflow);
    write_apic(APIC_SPURIOUS, APIC_ENABLED);
    write_apic(APIC_LVT_PERFORMANCE, LVT_NMI);
    before_overflow = 0 - period;
    count_next_period();
}

void stop_sampling(void)
{
    write_msr(PERF_EVT_SEL0, 0);
}
