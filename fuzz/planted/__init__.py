"""Planted faults: patches that break a rule each, and what finds them. The program is fuzz/power."""
