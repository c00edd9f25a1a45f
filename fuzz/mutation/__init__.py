"""Mutants: the code with one small change each, and which tests notice it. The program is fuzz/mutants."""
