/* The checks of the programs in this folder. */
#ifndef EXPECT_H
#define EXPECT_H

#include <stdio.h>
#include <stdlib.h>
#include <vm_pmu.h>
#include <vm_pmu.h> /* a second time, as when headers include each other */
#include <vm_pmu_boxes.h>
#include <vm_pmu_catalogue.h>
#include <vm_pmu_companion.h>
#include <vm_pmu_layout.h>
#include <vm_pmu_litmus.h>
#include <vm_pmu_posting.h>

/* Ends the program when something is wrong, and prints where. */
#define EXPECT(holds)                                                                                                                 \
  do {                                                                                                                                \
    if (!(holds)) {                                                                                                                   \
      char why[256];                                                                                                                  \
      vm_pmu_last_error(why, sizeof why);                                                                                             \
      fprintf(stderr, "%s:%d: expected %s; the last error is: %s\n", __FILE__, __LINE__, #holds, why);                                \
      exit(1);                                                                                                                        \
    }                                                                                                                                 \
  } while (0)

#define EXPECT_OK(call) EXPECT((call) == VM_PMU_STATUS_OK)

#endif
