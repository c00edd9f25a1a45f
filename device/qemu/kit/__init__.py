"""Puts the performance monitoring units into QEMU, builds it, and boots Debian's kernels in it."""
