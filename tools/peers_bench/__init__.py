"""edge-asr beside other recognisers: the same audio, where possible the same model files, one interleaved run.

Started by ``tools/peers``. ``adapters/`` has one small file for each peer, all with the interface of ``peer.py``; peers
that are Python libraries run in an environment of their own, driven by the programs in ``children/``. What is counted
is what the process tree of the peer uses, never the client that feeds it. Pure parts: ``steps.py`` (which audio a step
waits for), ``search.py`` (how many streams), ``comparison.py`` (ratios and intervals), ``table.py``.
"""
