
objects = start.o driver.o test.o

driver.elf: runtime/ia64/guest.ld $(objects)
	$(LD) -static -T $< -o $@ $(objects)

start.o: runtime/ia64/start.s Makefile
	$(AS) -g -x -o $@ $<

%.o: %.s Makefile
	$(AS) -g -x -o $@ $<

PMULAB = pmulab
.PHONY: run clean
run: driver.elf
	$(PMULAB) run --pmu $(PMU) ./driver.elf

clean:
	rm -f driver.elf $(objects)
