"""Codecs: bytes to requests and events to bytes; no I/O."""
