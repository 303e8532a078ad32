"""Spoken commands: from a grammar of words to a decoding graph, the closed language that an engine may hear."""
