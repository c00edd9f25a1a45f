/* A driver of the K8's counters, and its test: an NMI after every 1,000 instructions of ring 0. It runs on nothing but the machine. */

typedef unsigned long u64;
typedef unsigned int u32;

#define PERIOD 1000

enum { PERF_EVT_SEL0 = 0xC0010000, PERF_CTR0 = 0xC0010004 };

static void wrmsr(u32 number, u64 value) {
    __asm__ volatile("wrmsr" : : "c"(number), "a"((u32)value), "d"((u32)(value >> 32)) : "memory");
}

/* ---- The driver ---- */

static volatile u64 samples;

struct frame { u64 rip, cs, rflags, rsp, ss; };

__attribute__((interrupt)) static void overflow(struct frame *frame) {
    (void)frame;
    samples = samples + 1;
    wrmsr(PERF_CTR0, PERIOD); /* count the next period */
}

static void start(void) {
    wrmsr(PERF_CTR0, -(u64)PERIOD);
    wrmsr(PERF_EVT_SEL0, 0x5200C0); /* retired instructions, OS, INT, EN */
}

static void stop(void) { wrmsr(PERF_EVT_SEL0, 0); }

/* ---- The machine: one gate for the NMI, and the local APIC ---- */

static struct { unsigned short low, selector, type, middle; u32 high, zero; } gates[3];

static void prepare(void) {
    u64 handler = (u64)overflow;
    gates[2].low = handler;
    gates[2].selector = 0x08;
    gates[2].type = 0x8E00;
    gates[2].middle = handler >> 16;
    gates[2].high = handler >> 32;
    struct { unsigned short limit; u64 base; } __attribute__((packed)) idt = {sizeof gates - 1, (u64)gates};
    __asm__ volatile("lidt %0" : : "m"(idt));
    *(volatile u32 *)0xFEE000F0 = 0x1FF; /* the local APIC is on */
    *(volatile u32 *)0xFEE00340 = 0x400; /* performance counters interrupt by NMI */
}

/* ---- The test ---- */

static struct {
    u64 magic, checks, samples, unused;
    struct { const char *label; u64 seen, least, most; } check;
} *const report = (void *)0x10000;

void _start(void) {
    prepare();
    start();
    /* Two instructions a turn: 20,000, and a few around them. */
    __asm__ volatile("mov $10000, %%ecx\n1: dec %%ecx\n jnz 1b" : : : "ecx");
    stop();

    report->check.label = "interrupts of 20,000 instructions";
    report->check.seen = samples;
    report->check.least = report->check.most = 20;
    report->checks = 1;
    report->magic = 0x504552554D504D56; /* VMPMUREP */
    __asm__ volatile("outb %0, $0xF4" : : "a"((char)0)); /* the end */
    for (;;)
        __asm__ volatile("hlt");
}
