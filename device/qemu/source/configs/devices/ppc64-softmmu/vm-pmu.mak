# The machines that the kit boots, and what powernv needs in addition to what it selects.
CONFIG_PSERIES=y
CONFIG_POWERNV=y
CONFIG_ACPI=y
CONFIG_I2C=y
CONFIG_PCA9552=y
CONFIG_PCA9554=y
