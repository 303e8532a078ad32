"""``python -m edge_asr`` is ``edge-asr``."""

from edge_asr.cli.main import main

if __name__ == "__main__":
    main()
