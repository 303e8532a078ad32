"""The machine, read from a root that tests can replace."""
