/*
 * share [N [CPU]]: two processes, on the first CPU and on another, write and read the same memory N times (20 without an argument).
 *
 * In each turn
 *
 *   - one process stores to every line of 64 KiB while the other one waits, the other one reads them, and then stores to them;
 *   - both read them, and both add to the same word, by locked instructions and by plain ones;
 *   - one writes the code that the other one executes, before that and meanwhile.
 *
 * The other CPU is the last without an argument. So lines go from cache to cache, clean and modified, and cores lose lines that they work on. It has no known counts.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE (64 << 10)
#define PAGE (64 << 10)
#define LINE 64
#define TURNS 20
#define ADDITIONS 2000
#define LOOPS 20
#define SPOILED 500

/* What both processes see. */
struct Shared {
    /* Which step is next. */
    _Atomic unsigned step;
    char apart[128 - sizeof(unsigned)];
    _Atomic unsigned long sum;
    volatile unsigned long plain;
    char far[128];
    volatile char lines[SIZE];
};

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void stay_on(int cpu)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) {
        fail("sched_setaffinity");
    }
}

static void *map(size_t size, int protection)
{
    void *memory = mmap(NULL, size, protection, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED) {
        fail("mmap");
    }
    return memory;
}

static void wait_for(struct Shared *shared, unsigned step)
{
    while (atomic_load(&shared->step) < step) {
    }
}

static void store(struct Shared *shared, char value)
{
    for (size_t at = 0; at < SIZE; at += LINE) {
        shared->lines[at] = value;
    }
}

static void load(struct Shared *shared)
{
    for (size_t at = 0; at < SIZE; at += LINE) {
        shared->lines[at];
    }
}

static void add(struct Shared *shared)
{
    for (int times = 0; times < ADDITIONS; times++) {
        atomic_fetch_add(&shared->sum, 1);
        shared->plain++;
    }
}

/* A loop at the beginning, and in every fourth line a function that does nothing but return. */
static void write_code(unsigned char *code)
{
#ifdef __x86_64__
    static const unsigned char loop[] = { 0xb9, 0xf4, 0x01, 0x00, 0x00, 0xff, 0xc9, 0x75, 0xfc, 0xc3 };
    static const unsigned char back[] = { 0xc3 };
#else
    static const uint32_t loop[] = { 0x392001f4, 0x7d2903a6, 0x42000000, 0x4e800020 };
    static const uint32_t back[] = { 0x4e800020 };
#endif
    for (size_t at = 0; at < PAGE; at += 256) {
        memcpy(code + at, at == 0 ? (const void *)loop : back, at == 0 ? sizeof loop : sizeof back);
    }
    __builtin___clear_cache((char *)code, (char *)code + PAGE);
}

static void call(void *function)
{
#ifdef __x86_64__
    __asm__ volatile("call *%0" : : "r"(function) : "rcx", "memory");
#else
    __asm__ volatile("mtctr %0; bctrl" : : "r"(function) : "r9", "lr", "ctr", "memory");
#endif
}

static void execute(unsigned char *code)
{
    for (size_t at = 0; at < PAGE; at += 256) {
        call(code + at);
    }
    for (int times = 0; times < LOOPS; times++) {
        call(code);
    }
}

/* Stores behind the loop, into its line. */
static void spoil(volatile unsigned char *code)
{
    for (int times = 0; times < SPOILED; times++) {
        code[LINE - 1] = times;
    }
}

/* One of the two processes; each step of a turn begins when the one before has ended. */
static void take_turns(struct Shared *shared, unsigned char *code, int turns, int second)
{
    for (unsigned step = 0; turns > 0; turns--, step += 4) {
        if (!second) {
            wait_for(shared, step);
            store(shared, 1);
            write_code(code);
            atomic_store(&shared->step, step + 1);
            wait_for(shared, step + 2);
            load(shared);
            add(shared);
            spoil(code);
            atomic_fetch_add(&shared->step, 1);
        } else {
            wait_for(shared, step + 1);
            load(shared);
            execute(code);
            store(shared, 2);
            atomic_store(&shared->step, step + 2);
            load(shared);
            add(shared);
            execute(code);
            atomic_fetch_add(&shared->step, 1);
        }
    }
}

int main(int count, char **arguments)
{
    int turns = count > 1 ? atoi(arguments[1]) : TURNS;
    int cpu = count > 2 ? atoi(arguments[2]) : (int)sysconf(_SC_NPROCESSORS_ONLN) - 1;
    struct Shared *shared = map(sizeof *shared, PROT_READ | PROT_WRITE);
    unsigned char *code = map(PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
    pid_t other = cpu > 0 ? fork() : -1;

    if (other < 0) {
        fprintf(stderr, "share needs two CPUs\n");
        return 1;
    }
    stay_on(other == 0 ? cpu : 0);
    take_turns(shared, code, turns, other == 0);
    if (other > 0) {
        waitpid(other, NULL, 0);
    }
    return 0;
}
