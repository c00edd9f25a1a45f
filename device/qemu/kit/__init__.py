"""Guest images for QEMU, built of Debian's packages."""
