/* What lies between a driver that samples and its test. */
#ifndef DRIVER_H
#define DRIVER_H

#include <stdint.h>

/* The driver: interrupts after every so many instructions, until it is stopped. */
void start_sampling(uint64_t period);
void stop_sampling(void);

/* The test: called by the driver at each interrupt, with the address that it sampled. */
void sampled(uint64_t address);

/* A loop of two instructions a turn, and where it is. */
void loop(uint64_t turns);
extern const char loop_begin[], loop_end[];

#endif
