# The machines that the kit boots, and a device that copies memory.
CONFIG_I440FX=y
CONFIG_Q35=y
CONFIG_EDU=y
