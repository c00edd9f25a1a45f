/*
 * walks [N]: as memory, but through 4 MiB (N is 10 without an argument).
 *
 * A walk touches 65,536 lines, four times as many as Knights Landing's second level has: each is read from beyond the tile again in each walk, by a
 * load or by a prefetch ahead of it. Linux clears each page first.
 *   loads              1 (argc) + 65,536 N   = 655,361
 *   lines read         65,536 N by the walks = 655,360, and 65,536 by clearing
 */
#define SIZE (4 << 20)
#include "memory.S"
