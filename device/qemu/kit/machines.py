"""The machines that guests run in: everything that differs between them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Machine:
    """One machine of QEMU; `pmu_on` and `pmu_off` are the CPU's options for the PMU of this kit."""

    name: str
    qemu: str
    architecture: str
    machine: str
    cpu: str
    pmu_on: str
    pmu_off: str
    console: str
    append: str = ""
    modules: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    # What a machine with flash needs in addition.
    with_flash: tuple[str, ...] = ()


# The watchdog would use a counter. With its mitigations of speculation Linux would switch page tables at each
# system call, for which TCG discards its translated addresses. On a busy host Linux measures the clocks of the processor
# wrongly when it boots, and its timers would be late by as much: it takes the chipset's. Its scheduler still reads the
# TSC between two ticks, but no further than to the next tick: measured too slow, the TSC reaches it early, and a short
# program takes no time at all, for which perf prints no counts. So Linux is told a frequency that no host exceeds.
_X86 = "nmi_watchdog=0 mitigations=off tsc=unstable tsc_early_khz=6000000 clocksource=acpi_pm nolapic_timer"

# On POWER it would empty the data cache at each return to a user, with loads, as this firmware has no other way. Then each
# load of the user misses, and with a sample for each miss a program gets nowhere.
_POWER = "mitigations=off"

MACHINES = {
    machine.name: machine
    for machine in (
        Machine(
            name="k8",
            qemu="qemu-system-x86_64",
            architecture="amd64",
            machine="pc",
            cpu="Opteron_G1",
            pmu_on="pmu=on",
            pmu_off="pmu=off",
            console="ttyS0",
            append=_X86,
        ),
        Machine(
            name="knl",
            qemu="qemu-system-x86_64",
            architecture="amd64",
            machine="q35",
            # Knights Mill is Knights Landing with another model number. Linux's driver of the untile does nothing in a
            # guest that sees a hypervisor.
            cpu="KnightsMill,model=87,stepping=1,-hypervisor",
            pmu_on="pmu=on",
            pmu_off="pmu=off",
            console="ttyS0",
            append=_X86,
            modules=("intel-uncore",),
        ),
        Machine(
            name="power9",
            qemu="qemu-system-ppc64",
            architecture="ppc64el",
            # The small firmware starts the kernel two seconds earlier than the large one.
            machine="pseries,x-vof=on,cap-cfpc=broken,cap-sbbc=broken,cap-ibs=broken,cap-ccf-assist=off",
            cpu="power9",
            pmu_on="pmu=on",
            pmu_off="pmu=off",
            console="hvc0",
            append=_POWER,
        ),
        Machine(
            name="powernv9",
            qemu="qemu-system-ppc64",
            architecture="ppc64el",
            machine="powernv9",
            cpu="power9",
            pmu_on="pmu=on",
            pmu_off="pmu=off",
            console="hvc0",
            append=_POWER,
            # On the bare machine Linux may have guests of its own.
            modules=("kvm", "kvm-hv"),
            # skiboot asks the BMC where the flash is.
            with_flash=("-device", "ipmi-bmc-sim,id=bmc0", "-device", "isa-ipmi-bt,bmc=bmc0,irq=10"),
        ),
    )
}
