/* A driver of Knights Landing's counters, and its test: it takes a sample every 1,000 instructions of ring 0, and counts the loads. Three of its
   lines are wrong; the first MENDED of them are right. */
#include "guest.h"
#include "pmu.h"

#ifndef MENDED
#define MENDED 0
#endif

enum { IA32_PERFEVTSEL0 = 0x186, IA32_PERFEVTSEL1 = 0x187, IA32_PERF_GLOBAL_CTRL = 0x38f, IA32_PERF_GLOBAL_OVF_CTRL = 0x390 };
enum { IA32_A_PMC0 = 0x4c1, IA32_A_PMC1 = 0x4c2, COUNTER_MASK = 3, PERIOD = 1000, NMI = 2 };

/* ---- The driver ---- */

enum { MOST = 64, WORDS = 64 };

static volatile uint64_t samples, overflowed;
/* The top of the stack at each sample, for who draws call chains. */
static uint64_t stacks[MOST][WORDS];

/* The local APIC: performance counters interrupt by NMI. An interrupt masks the entry. */
static void unmask(void)
{
    *(volatile uint32_t *)0xfee00340 = 0x400;
}

static void rearm(void)
{
    write_msr(IA32_A_PMC0, (UINT64_C(1) << 40) - PERIOD);
}

__attribute__((interrupt)) static void overflow(struct frame *frame)
{
#if MENDED >= 2
    write_msr(IA32_PERF_GLOBAL_CTRL, 0);
#endif
    sample(frame->rip, "sample");
    for (int word = 0; word < WORDS; word++)
        stacks[samples % MOST][word] = ((volatile uint64_t *)frame->rsp)[word];
    samples = samples + 1;
    write_msr(IA32_PERF_GLOBAL_OVF_CTRL, 1);
#if MENDED >= 3
    rearm();
#else
    overflowed = 1;
#endif
    unmask();
    write_msr(IA32_PERF_GLOBAL_CTRL, COUNTER_MASK);
}

/* What is left to do after an interrupt. The program calls it from time to time. */
static void poll(void)
{
    if (overflowed) {
        overflowed = 0;
        rearm();
    }
}

static void start(void)
{
    set_gate(NMI, overflow);
    *(volatile uint32_t *)0xfee000f0 = 0x1ff;
    unmask();
    write_msr(IA32_PERF_GLOBAL_CTRL, 0);
    rearm();
    write_msr(IA32_A_PMC1, 0);
    write_msr(IA32_PERFEVTSEL0, 0x5200c0); /* retired instructions, OS, INT, EN */
#if MENDED >= 1
    write_msr(IA32_PERFEVTSEL1, 0x424004); /* loads, OS, EN */
#else
    write_msr(IA32_PERFEVTSEL1, 0x428004); /* loads, OS, EN */
#endif
    write_msr(IA32_PERF_GLOBAL_CTRL, COUNTER_MASK);
}

static void stop(void)
{
    write_msr(IA32_PERF_GLOBAL_CTRL, 0);
}

/* ---- The test ---- */

int main(void)
{
    static uint64_t word;
    start();
    for (int part = 0; part < 50; part++) {
        /* 100 loads, in 302 instructions. */
        __asm__ volatile("mov $100, %%ecx\n1: mov (%0), %%rax\n dec %%ecx\n jnz 1b\n nop" : : "r"(&word) : "rax", "rcx", "cc");
        poll();
    }
    stop();
    check("samples of 15,100 instructions and a few", samples, 15);
    /* One or two in poll() for each part, and about ten at the end of each interrupt, once counters go on. */
    check_range("loads", read_msr(IA32_A_PMC1), 5000, 5300);
    return 0;
}
