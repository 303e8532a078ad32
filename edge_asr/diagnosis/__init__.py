"""What this machine is and what will go wrong on it.

One file per kind of finding: plain functions from what was read to findings. ``examination.py`` reads and asks them
all; ``probes.py`` tries in processes of their own what may end the process that tries it.
"""
