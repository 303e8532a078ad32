from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path

import pytest

from edge_asr.cli.termination import ending_well


def test_a_command_that_is_told_to_end_puts_away_what_it_worked_on() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt), ending_well(), tempfile.TemporaryDirectory() as folder:
        os.kill(os.getpid(), signal.SIGTERM)
    assert not Path(folder).exists()
    assert signal.getsignal(signal.SIGTERM) == before
