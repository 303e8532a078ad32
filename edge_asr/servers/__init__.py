"""Sockets, and nothing else."""
