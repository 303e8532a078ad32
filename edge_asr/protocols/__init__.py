"""Codecs: a client's bytes to requests, events to a client's bytes. No sockets, no clock, no threads."""
