/* The region of one chip whose home is 0, as guest memory that the nest posts into. */
#ifndef REGION_H
#define REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <vm_pmu_posting.h>

#define REGION UINT64_C(0x180000)
#define REGION_END UINT64_C(0x1C0000)
/* Cycles of the nest from one slot to the next. */
#define SLOT UINT64_C(25600)

static uint64_t cells[(REGION_END - REGION) / 8];

static uint64_t *cell(uint64_t address) {
  return address % 8 == 0 && address >= REGION && address < REGION_END ? &cells[(address - REGION) / 8] : NULL;
}

static bool load(void *user, uint64_t address, uint64_t *value) {
  const uint64_t *held = cell(address);
  (void)user;
  if (held) *value = *held;
  return held != NULL;
}

static bool store(void *user, uint64_t address, uint64_t value) {
  uint64_t *held = cell(address);
  (void)user;
  if (held) *held = value;
  return held != NULL;
}

static bool add(void *user, uint64_t address, uint64_t amount) {
  uint64_t *held = cell(address);
  (void)user;
  if (held) *held += amount;
  return held != NULL;
}

static const VmPmuMemory memory = {sizeof(VmPmuMemory), NULL, load, store, add};

#endif
