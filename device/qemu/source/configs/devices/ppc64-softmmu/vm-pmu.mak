# The machines that the kit boots, what powernv needs in addition to what it selects, and a device that copies memory.
CONFIG_PSERIES=y
CONFIG_POWERNV=y
CONFIG_ACPI=y
CONFIG_I2C=y
CONFIG_PCA9552=y
CONFIG_PCA9554=y
CONFIG_EDU=y
