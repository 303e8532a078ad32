"""Put the fetched models that tests use into a store of their own; what cannot be fetched is said and done without."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

MODELS = ("silero-vad", "moonshine-tiny-en")


def main() -> None:
    store = Path(sys.argv[1])
    environment = os.environ | {"EDGE_ASR_HOME": str(store)}
    for name in MODELS:
        command = [sys.executable, "-m", "edge_asr", "models", "pull", name]
        if subprocess.run(command, env=environment, check=False).returncode != 0:
            print(f"without {name}: the tests that need it are skipped", file=sys.stderr)


if __name__ == "__main__":
    main()
