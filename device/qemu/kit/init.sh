#!/bin/busybox sh
# The guest's first process: it runs /host/command, and reports on the console when the command begins and ends.
/bin/busybox --install -s
mount -t devtmpfs none /dev
mount -t proc none /proc
mount -t sysfs none /sys
mount -t tracefs none /sys/kernel/tracing
export PATH=/host:/programs:/bin:/sbin:/usr/bin:/usr/sbin HOME=/root TERM=dumb PAGER=cat
stty -opost -echo
for module in /host/modules/*.ko; do
    [ -e "$module" ] && insmod "$module"
done
echo 0 > /proc/sys/kernel/kptr_restrict
# Debian's kernels set 3, which some libraries take as a machine without counters.
echo -1 > /proc/sys/kernel/perf_event_paranoid
# An emulated processor takes long for an interrupt: perf must not drop samples because of that.
echo 1000000 > /proc/sys/kernel/perf_event_max_sample_rate
echo 0 > /proc/sys/kernel/perf_cpu_time_max_percent
# From here on only the command writes to the console: the kernel's messages are printed at the end.
dmesg -n 1
cd /host
printf '\n@guest begins\n'
sh ./command 2>&1 </dev/null
printf '\n@guest ends %d\n' $?
dmesg -r
printf '\n@guest is done\n'
# The host ends the machine when it reads that; not every machine can end itself.
while :; do sleep 1; done
