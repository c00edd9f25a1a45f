/* What a guest of one's own has, on every part. */
#ifndef GUEST_H
#define GUEST_H

#include <stdint.h>

/* The guest's own part, on CPU 0. What it returns ends the run: 0 for success. */
int main(void);

/* Reports something that was checked; what was seen is right from the least to the most. The label must stay where it is. */
void check_range(const char *label, uint64_t seen, uint64_t least, uint64_t most);

static inline void check(const char *label, uint64_t seen, uint64_t right)
{
    check_range(label, seen, right, right);
}

/* Reports that a sample fell on an address. */
void sample(uint64_t address, const char *label);

/* Writes to the console: text, and a number with 0x. */
void say(const char *text);
void say_number(uint64_t number);

/* Ends the run. */
_Noreturn void end(uint8_t status);

/* For the start-up code of each part: empties the report, and ends the run after an interrupt that nothing handles. */
void begin_report(void);
_Noreturn void unexpected(uint64_t vector, uint64_t address);

/* What each part's start-up code has: a byte for the console. */
void console(char byte);

#endif
