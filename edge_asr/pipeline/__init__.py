"""Pure stages between audio and text: no I/O, no clock."""
