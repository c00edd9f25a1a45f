/* A driver that samples instructions with counter 0 of Knights Landing: `pmulab encode --pmu knl INST_RETIRED:k:int` has the values. */
#include "driver.h"
#include "pmu.h"

enum {
    IA32_PERFEVTSEL0 = 0x186,
    IA32_PERF_GLOBAL_STATUS = 0x38e,
    IA32_PERF_GLOBAL_CTRL = 0x38f,
    IA32_PERF_GLOBAL_OVF_CTRL = 0x390,
    IA32_A_PMC0 = 0x4c1,
};

enum { NMI = 2 };

static uint64_t before_overflow;

static void count_next_period(void)
{
    write_msr(IA32_A_PMC0, before_overflow);
    write_msr(IA32_PERF_GLOBAL_CTRL, 1);
}

/* Delivery has masked the entry of the local APIC, and the status keeps the overflow until it is acknowledged. */
__attribute__((interrupt)) static void overflow(struct frame *frame)
{
    write_msr(IA32_PERF_GLOBAL_CTRL, 0);
    sampled(frame->rip);
    write_msr(IA32_PERF_GLOBAL_OVF_CTRL, read_msr(IA32_PERF_GLOBAL_STATUS));
    write_apic(APIC_LVT_PERFORMANCE, LVT_NMI);
    count_next_period();
}

void start_sampling(uint64_t period)
{
    set_gate(NMI, overflow);
    write_apic(APIC_SPURIOUS, APIC_ENABLED);
    write_apic(APIC_LVT_PERFORMANCE, LVT_NMI);
    write_msr(IA32_PERF_GLOBAL_CTRL, 0);
    write_msr(IA32_PERFEVTSEL0, 0x5200c0);
    /* A counter has 40 bits; a write may not set those above. */
    before_overflow = (0 - period) & 0xffffffffff;
    count_next_period();
}

void stop_sampling(void)
{
    write_msr(IA32_PERF_GLOBAL_CTRL, 0);
    write_msr(IA32_PERFEVTSEL0, 0);
}
