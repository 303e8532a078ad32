"""One session written down on request: its audio, its events, and when each of them came. Never by default."""
