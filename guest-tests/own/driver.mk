
sources = runtime/report.c runtime/$(MACHINE)/start.S runtime/$(MACHINE)/runtime.c loop.S driver.c test.c

driver.elf: Makefile driver.h $(sources) $(wildcard runtime/*.h runtime/$(MACHINE)/*)
	$(CC) @runtime/$(MACHINE)/options -Iruntime -Iruntime/$(MACHINE) -T runtime/$(MACHINE)/guest.ld -o $@ $(sources)

PMULAB = pmulab
.PHONY: run clean
run: driver.elf
	$(PMULAB) run --pmu $(PMU) ./driver.elf

clean:
	rm -f driver.elf
