"""The table of ``tools/protocols``: which client program gets what over which protocol."""
