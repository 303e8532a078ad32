import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parents[2] / "tools" / "starter" / "text.py"


def test_the_package_that_sentences_are_made_of_is_named_where_it_is_missing() -> None:
    without_packages = [sys.executable, "-S", str(PROGRAM), "3"]

    made = subprocess.run(without_packages, capture_output=True, text=True, check=False)

    assert (made.returncode, made.stdout) == (1, "")
    assert "pip install home-assistant-intents" in made.stderr
    assert "Traceback" not in made.stderr
