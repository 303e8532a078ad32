"""Voices in the store."""

from __future__ import annotations

from pathlib import Path

import pytest

from edge_asr.errors import ConfigurationError
from edge_asr.store.locations import StoreLocations
from edge_asr.store.speakers import LONGEST_NAME_BYTES, EnrolledSpeaker, SpeakerShelf, checked_name
from tests.support.tiny_speaker import MANIFEST


def speaker(name: str, *embedding: float) -> EnrolledSpeaker:
    return EnrolledSpeaker(name, MANIFEST.name, "", embedding or (0.6, 0.8), 2, 3.5)


@pytest.fixture
def shelf(tmp_path: Path) -> SpeakerShelf:
    return SpeakerShelf(StoreLocations((tmp_path / "own", tmp_path / "system")))


def test_what_is_written_is_read(shelf: SpeakerShelf) -> None:
    for name in ("Zoë / 2", "Anna"):
        shelf.write(speaker(name))
    assert shelf.read().speakers == (speaker("Anna"), speaker("Zoë / 2"))


def test_a_name_leads_nowhere_else(shelf: SpeakerShelf, tmp_path: Path) -> None:
    assert shelf.write(speaker("../../etc/x")).parent == tmp_path / "own" / "speakers"


def test_a_second_voice_of_a_name_takes_the_place_of_the_first(shelf: SpeakerShelf, tmp_path: Path) -> None:
    shelf.write(speaker("Anna"))
    shelf.write(speaker("Anna", 1.0, 0.0))
    assert shelf.read().speakers == (speaker("Anna", 1.0, 0.0),)
    assert [path.name for path in (tmp_path / "own" / "speakers").iterdir()] == ["Anna.json"]


def test_the_first_place_counts(shelf: SpeakerShelf, tmp_path: Path) -> None:
    SpeakerShelf(StoreLocations((tmp_path / "system",))).write(speaker("Anna", 1.0, 0.0))
    shelf.write(speaker("Anna"))
    assert shelf.read().speakers == (speaker("Anna"),)


def test_a_voice_is_forgotten_in_every_place(shelf: SpeakerShelf, tmp_path: Path) -> None:
    SpeakerShelf(StoreLocations((tmp_path / "system",))).write(speaker("Anna"))
    shelf.write(speaker("Anna"))
    shelf.remove("Anna")
    assert shelf.read().speakers == ()


def test_who_was_not_enrolled_cannot_be_forgotten(shelf: SpeakerShelf) -> None:
    shelf.write(speaker("Anna"))
    with pytest.raises(ConfigurationError, match=r"'Bob'.*Anna"):
        shelf.remove("Bob")


def test_a_damaged_file_hides_its_own_voice_only(shelf: SpeakerShelf, tmp_path: Path) -> None:
    shelf.write(speaker("Anna"))
    damaged = tmp_path / "own" / "speakers" / "Bob.json"
    damaged.write_text('{"name": "Bob"', encoding="utf-8")
    found = shelf.read()
    assert (found.speakers, found.damaged) == ((speaker("Anna"),), (damaged,))


def test_a_voice_belongs_to_the_file_of_its_model() -> None:
    assert speaker("Anna").is_of(MANIFEST)
    assert not EnrolledSpeaker("Anna", MANIFEST.name, "0123", (1.0,), 1, 1.0).is_of(MANIFEST)
    assert not EnrolledSpeaker("Anna", "other", "", (1.0,), 1, 1.0).is_of(MANIFEST)


def test_a_name_loses_the_spaces_around_it() -> None:
    assert checked_name(" Anna B. ") == "Anna B."


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "\x1b[31m", "ü" * (LONGEST_NAME_BYTES // 2 + 1)])
def test_what_is_no_name(name: str) -> None:
    with pytest.raises(ConfigurationError, match="no name"):
        checked_name(name)
