# The machines that the kit boots.
CONFIG_I440FX=y
CONFIG_Q35=y
