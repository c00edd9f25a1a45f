/*
 * dma [N [BYTES]]: QEMU's device `edu` reads 4 KiB of memory N times, and writes them as often (N is 5 without an argument).
 *
 * That is 64 lines of 64 bytes, or 32 of 128, so the device reads 64 N or 32 N lines and writes as many, each of them whole. Each copy takes it
 * 100 ms. With
 *
 *     -device edu,dma_mask=0xffffffff
 *
 * it reaches all memory below 4 GiB. POWER's host bridges translate what a device addresses, but Linux lets all of memory be addressed directly
 * from bit 59 on; there the device needs dma_mask=0xffffffffffffffff. With BYTES it copies only so
 * many, from the beginning of the page; the program also reads a register of 32 bits, and stores a byte where the device has no register.
 */
#include <fcntl.h>
#include <glob.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define COPIED 4096

/* The identity of the device: vendor and device, as they are in configuration space. */
#define IDENTITY 0x11E81234

/* Configuration space: the command register with memory and bus master enabled. */
#define COMMAND 4
#define MEMORY_AND_MASTER 6

/* What its first register reads: 0.1, and its name. */
#define NAME 0x010000ed

/* Its registers for copies, and its buffer. */
#define SOURCE 0x80
#define TARGET 0x88
#define BYTES 0x90
#define START 0x98
#define TO_MEMORY 2
#define BUFFER 0x40000
#define NOTHING 0x40

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

/* The registers of the device. */
static volatile uint64_t *registers(void)
{
    glob_t functions;
    char path[256];

    if (glob("/sys/bus/pci/devices/*", 0, NULL, &functions) != 0) {
        fail("/sys/bus/pci/devices");
    }
    for (size_t number = 0; number < functions.gl_pathc; number++) {
        uint32_t identity = 0;
        uint16_t command = MEMORY_AND_MASTER;
        int file;
        void *mapped;

        snprintf(path, sizeof path, "%s/config", functions.gl_pathv[number]);
        file = open(path, O_RDWR);
        if (file < 0 || pread(file, &identity, sizeof identity, 0) != sizeof identity || identity != IDENTITY) {
            close(file);
            continue;
        }
        if (pwrite(file, &command, sizeof command, COMMAND) != sizeof command) {
            fail(path);
        }
        snprintf(path, sizeof path, "%s/resource0", functions.gl_pathv[number]);
        file = open(path, O_RDWR);
        mapped = file < 0 ? MAP_FAILED : mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (mapped == MAP_FAILED) {
            fail(path);
        }
        return mapped;
    }
    fprintf(stderr, "there is no edu: start QEMU with -device edu,dma_mask=...\n");
    exit(1);
}

/* Where a device finds memory that it addresses directly. */
#ifdef __powerpc64__
#define DIRECT (UINT64_C(1) << 59)
#else
#define DIRECT 0
#endif

/* The address of a page for the device. */
static uint64_t address_of(const void *page)
{
    uint64_t entry = 0, size = getpagesize();
    int file = open("/proc/self/pagemap", O_RDONLY);

    if (file < 0 || pread(file, &entry, sizeof entry, (uintptr_t)page / size * sizeof entry) != sizeof entry || entry >> 63 == 0) {
        fail("/proc/self/pagemap");
    }
    close(file);
    return (entry & ((UINT64_C(1) << 55) - 1)) * size + DIRECT;
}

/* The registers have the byte order of the machine, which is not the guest's where that is little-endian on POWER. */
static uint64_t ordered(volatile uint64_t *edu, uint64_t value)
{
    return *(volatile uint32_t *)edu == NAME ? value : __builtin_bswap64(value);
}

static void copy(volatile uint64_t *edu, uint64_t from, uint64_t to, uint64_t bytes, uint64_t command)
{
    edu[SOURCE / 8] = ordered(edu, from);
    edu[TARGET / 8] = ordered(edu, to);
    edu[BYTES / 8] = ordered(edu, bytes);
    edu[START / 8] = ordered(edu, command | 1);
    /* A CPU that slept would count nothing. */
    while ((edu[START / 8] & ordered(edu, 1)) != 0) {
    }
}

int main(int argc, char **argv)
{
    volatile uint64_t *edu = registers();
    uint64_t bytes = COPIED;
    void *page = mmap(NULL, COPIED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED, -1, 0);

    if (page == MAP_FAILED) {
        fail("mmap");
    }
    memset(page, 1, COPIED);
    if (argc > 2) {
        bytes = atoi(argv[2]);
        *(volatile uint32_t *)edu;
        *((volatile uint8_t *)edu + NOTHING) = 0;
    }
    for (int round = argc > 1 ? atoi(argv[1]) : 5; round > 0; round--) {
        copy(edu, address_of(page), BUFFER, bytes, 0);
        copy(edu, BUFFER, address_of(page), bytes, TO_MEMORY);
    }
    return 0;
}
