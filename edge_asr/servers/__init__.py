"""Sockets, and nothing but sockets: what is said over them is decided in ``protocols/``."""
