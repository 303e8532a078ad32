"""Measuring on the board: workloads, runs, validity, statistics, reports, gates and plans."""
