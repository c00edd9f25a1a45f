/*
 * memory [N]: N walks through 1 MiB, one load per line of 128 bytes (N is 10 without an argument), after one walk of stores.
 *
 * A walk touches 1 MiB / 128 = 8,192 lines. Every first-level data cache of less than 1 MiB that replaces the line used least
 * recently, and does not prefetch, misses on each of them in each walk: a line's turn comes again when 8,191 others were used.
 * Without an argument:
 *   instructions       5 + 4 + 3 * 8,192 + N * (3 + 3 * 8,192 + 2) + 3 = 24,588 + 24,581 N = 270,398
 *   loads              1 (argc) + 8,192 N   = 81,921
 *   stores             8,192
 *   branches           1 + 8,192 + N * (8,192 + 1) = 8,193 + 8,193 N = 90,123
 *   data cache misses  8,192 N by the loads, and as many as 8,192 by the stores: Linux clears a page when it is first
 *                      stored to, which leaves the page's lines in the cache, and then none of its stores misses
 *   page faults        256, by the stores, with pages of 4 KiB
 */
#include "start.h"

#define SIZE (1 << 20)
#define LINE 128

START 10
        lis 3, buffer@h
        ori 3, 3, buffer@l
        li 4, SIZE / LINE
        mtctr 4
END _start

FUNCTION store
1:      std 5, 0(3)
        addi 3, 3, LINE
        bdnz 1b
END store

FUNCTION load
2:      lis 3, buffer@h
        ori 3, 3, buffer@l
        mtctr 4
3:      ld 6, 0(3)
        addi 3, 3, LINE
        bdnz 3b
        addic. 5, 5, -1
        bne 2b
        EXIT
END load

.bss
.balign 4096
buffer: .skip SIZE
