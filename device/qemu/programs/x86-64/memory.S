/*
 * memory [N]: N walks through 1 MiB, one load per line of 64 bytes (N is 10 without an argument), after one walk of stores.
 *
 * A walk touches 1 MiB / 64 = 16,384 lines. Every first-level data cache of less than 1 MiB that replaces the line used least
 * recently, and does not prefetch, misses on each of them in each walk: a line's turn comes again when 16,383 others were used.
 * Without an argument:
 *   instructions       3 + 2 + 4 * 16,384 + N * (2 + 4 * 16,384 + 2) + 3 = 65,544 + 65,540 N = 720,944
 *   loads              1 (argc) + 16,384 N   = 163,841
 *   stores             16,384
 *   branches           1 + 16,384 + N * (16,384 + 1) = 16,385 + 16,385 N = 180,235
 *   data cache misses  16,384 N by the loads, and as many as 16,384 by the stores: Linux clears a page when it is first
 *                      stored to, which leaves the page's lines in the cache, and then none of its stores misses
 *   page faults        256, by the stores, with pages of 4 KiB
 */
#include "start.h"

#ifndef SIZE
#define SIZE (1 << 20)
#endif
#define LINE 64

START 10
        lea buffer(%rip), %rdi
        mov $SIZE / LINE, %edx
END _start

FUNCTION store
1:      mov %rcx, (%rdi)
        add $LINE, %rdi
        dec %edx
        jnz 1b
END store

FUNCTION load
2:      lea buffer(%rip), %rdi
        mov $SIZE / LINE, %edx
3:      mov (%rdi), %rax
        add $LINE, %rdi
        dec %edx
        jnz 3b
        dec %rcx
        jnz 2b
        EXIT
END load

.bss
.balign 4096
buffer: .skip SIZE
