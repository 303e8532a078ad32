from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import numpy as np
import pytest

from edge_asr.cli.stores import open_store
from edge_asr.store.store import InstalledModel
from tools.peers_bench.measurement import Case, Pass, measure
from tools.peers_bench.peer import Ability, Decoded, Heard
from tools.peers_bench.recordings import Recording


class Quiet:
    """Says nothing, and remembers what it was given."""

    name = "quiet"

    def __init__(self, *abilities: Ability) -> None:
        self.abilities = frozenset(abilities)
        self.given: list[tuple[str, str]] = []
        self.pid = 1

    @contextmanager
    def start(self, model: InstalledModel | None) -> Iterator[Quiet]:
        yield self

    def decode(self, recording: Recording) -> Decoded:
        self.given.append(("decode", recording.name))
        return Decoded(wall_s=2.0, cpu_s=1.0, text="")

    def listen(self, recording: Recording) -> Heard:
        self.given.append(("listen", recording.name))
        return Heard(flush_s=0.25, late_s=0.001, text="")


def recording(name: str, seconds: int, vocabulary: str = "open") -> Recording:
    return Recording(name, Path(f"{name}.wav"), np.zeros(seconds * 16_000, np.int16), f"{name} is said", vocabulary)


LONG = [recording("long", 9)]
SPOKEN = [recording("command", 2, "commands"), recording("sentence", 4)]


def measured(peer: Quiet, model: InstalledModel | None = None) -> Pass:
    return measure(Case(peer, model), 3, LONG, SPOKEN)


def test_a_peer_does_what_it_is_able_to_after_a_warm_up() -> None:
    peer = Quiet("decode", "listen")
    measured(peer)
    assert peer.given == [("listen", "command"), ("decode", "long"), ("listen", "command"), ("listen", "sentence")]


def test_a_program_is_only_given_what_it_decodes() -> None:
    peer = Quiet("decode")
    (measurement,) = measured(peer).measurements
    assert peer.given == [("decode", "long")]
    assert (measurement.wall_s, measurement.cpu_s, measurement.audio_s) == (2.0, 1.0, 9.0)


def test_at_live_pace_the_wait_for_the_final_counts() -> None:
    command, _ = measured(Quiet("listen")).measurements
    assert (command.way, command.wall_s, command.late_s, command.repetition) == ("listen", 0.25, 0.001, 3)


def references(model: InstalledModel | None) -> list[str]:
    return [measurement.reference for measurement in measured(Quiet("listen"), model).measurements]


def test_a_model_of_commands_is_judged_by_commands_only() -> None:
    assert references(open_store().find("starter-en")) == ["command is said", ""]


@pytest.mark.parametrize(("languages", "judged"), [(("en",), True), (("und",), False)])
def test_a_model_without_a_language_is_not_judged(languages: tuple[str, ...], judged: bool) -> None:
    starter = open_store().find("starter-en")
    manifest = msgspec.structs.replace(starter.manifest, words_note="", languages=languages)
    assert all(map(bool, references(InstalledModel(manifest, starter.directory)))) is judged


def test_a_peer_with_its_own_model_is_judged_by_everything() -> None:
    assert references(None) == ["command is said", "sentence is said"]
