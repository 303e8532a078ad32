"""Thousands of recordings to text: which ones, who hears them, and what is written down so that none is lost.

One process, the *foreman*, lists the recordings, hands them to a *crew* of worker processes (on this machine's cores,
or on a cluster), and alone writes transcripts and the ledger. Workers only listen: one that dies has written nothing.
"""
