/* The report to `pmulab`, and the console: the same on every part. */
#include "guest.h"

enum { MOST = 500 };

/* What lies at physical address 10000h. */
struct report {
    uint64_t magic;
    uint64_t checks;
    uint64_t samples;
    uint64_t unused;
    struct {
        uint64_t label, seen, least, most;
    } check[MOST];
    uint64_t unused_too[(0x4000 - 0x20) / 8 - 4 * MOST];
    struct {
        uint64_t address, label, hits;
    } sample[MOST];
};

_Static_assert(__builtin_offsetof(struct report, sample) == 0x4000, "the samples have their place");

static volatile struct report *report(void)
{
    uintptr_t address = 0x10000;
    /* Otherwise the compiler takes an object at a constant address for one of no size. */
    __asm__("" : "+r"(address));
    return (volatile struct report *)address;
}

void begin_report(void)
{
    report()->checks = 0;
    report()->samples = 0;
    /* "VMPMUREP", read as a little-endian number. A big-endian guest writes the same number, which shows its byte order. */
    report()->magic = 0x504552554d504d56;
}

void check_range(const char *label, uint64_t seen, uint64_t least, uint64_t most)
{
    uint64_t n = report()->checks;
    if (n == MOST)
        return;
    report()->check[n].label = (uintptr_t)label;
    report()->check[n].seen = seen;
    report()->check[n].least = least;
    report()->check[n].most = most;
    report()->checks = n + 1;
}

void sample(uint64_t address, const char *label)
{
    uint64_t n, of = report()->samples;
    for (n = 0; n < of; n++) {
        if (report()->sample[n].address == address) {
            report()->sample[n].hits = report()->sample[n].hits + 1;
            return;
        }
    }
    if (n == MOST)
        return;
    report()->sample[n].address = address;
    report()->sample[n].label = (uintptr_t)label;
    report()->sample[n].hits = 1;
    report()->samples = n + 1;
}

void say(const char *text)
{
    while (*text)
        console(*text++);
}

void say_number(uint64_t number)
{
    say("0x");
    for (int shift = 60; shift >= 0; shift -= 4) {
        if (number >> shift || shift == 0)
            console("0123456789abcdef"[number >> shift & 15]);
    }
}

void unexpected(uint64_t vector, uint64_t address)
{
    say("interrupt ");
    say_number(vector);
    say(" that nothing handles, at ");
    say_number(address);
    say("\n");
    /* `pmulab` says what lies there. */
    sample(address, "unexpected");
    end(3);
}
