"""The microphone of this machine as a client of the recogniser: a process that records, and a session that goes on."""
