"""What the process ends with; a command returns one of the first two, main.py gives the others."""

FINE = 0
FINDING = 1
"""Outputs differ, counts grew, a budget is broken, the probe doesn't bite."""
WRONG_USE = 2
"""Wrong use or unusable input."""
OWN_FAILURE = 3
"""A fault of syncscope."""
# What a shell reports of a program that SIGINT or SIGPIPE ended.
INTERRUPTED = 130
NOBODY_READS = 141
