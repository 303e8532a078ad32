"""Which recordings a batch has, and what their transcripts are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from edge_asr.batch.recordings import find_recordings, read_list, stamp_of
from edge_asr.errors import ConfigurationError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.wav", "a.FLAC", "notes.txt", "2026/c.mp3", "out/d.wav"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x")
    return tmp_path


def places(*inputs: Path, output: Path) -> list[str]:
    return [recording.place for recording in find_recordings([str(path) for path in inputs], output)]


def test_a_folder_is_searched_at_any_depth_but_for_the_transcripts(folder) -> None:
    assert places(folder, output=folder / "out") == ["a.FLAC", "b.wav", "2026/c.mp3"]


def test_a_folder_is_searched_for_the_suffixes_that_are_wanted(folder) -> None:
    (folder / "call.PCM").write_bytes(b"x")

    found = find_recordings([str(folder)], folder / "out", (".pcm", ".raw"))

    assert [recording.place for recording in found] == ["call.PCM"]


def test_a_file_is_taken_whatever_its_name(folder) -> None:
    assert places(folder / "notes.txt", output=folder / "out") == ["notes.txt"]


def test_a_recording_that_is_named_twice_is_heard_once(folder) -> None:
    assert places(folder / "2026", folder / "2026" / "c.mp3", output=folder / "out") == ["c.mp3"]


def test_a_folder_that_is_a_link_is_searched_too(folder, tmp_path_factory) -> None:
    other = tmp_path_factory.mktemp("other")
    (other / "e.wav").write_bytes(b"y")
    (folder / "2025").symlink_to(other)

    assert places(folder, output=folder / "out") == ["a.FLAC", "b.wav", "2026/c.mp3", "2025/e.wav"]


@pytest.mark.parametrize("target", [".", "2026", "out", "2026/loop"])
def test_links_that_lead_back_are_followed_once(folder, target: str) -> None:
    (folder / "2026" / "loop").symlink_to(folder / target)

    assert places(folder, output=folder / "out") == ["a.FLAC", "b.wav", "2026/c.mp3"]


def test_transcripts_may_stand_beside_their_recordings(folder) -> None:
    assert places(folder / "2026", output=folder / "2026") == ["c.mp3"]


def test_two_recordings_never_share_a_transcript(folder) -> None:
    (folder / "2027").mkdir()
    (folder / "2027" / "c.mp3").write_bytes(b"y")

    with pytest.raises(ConfigurationError, match=r"would both be written to .*c\.mp3; name the folder that holds both"):
        places(folder / "2026", folder / "2027", output=folder / "out")


def test_one_that_is_missing_is_listed_to_be_named_at_the_end(folder) -> None:
    assert places(folder / "gone.wav", output=folder / "out") == ["gone.wav"]
    assert stamp_of(folder / "gone.wav") is None


def test_a_list_has_comments_and_empty_lines() -> None:
    assert read_list(b"# calls\n\n/srv/a b.wav\n c.wav") == ["/srv/a b.wav", " c.wav"]


def test_a_list_may_come_from_an_editor_that_marks_it_and_ends_lines_in_its_own_way() -> None:
    assert read_list(b"\xef\xbb\xbfa.wav\r\nb.wav\r\n") == ["a.wav", "b.wav"]


def test_a_list_with_zero_bytes_holds_any_name() -> None:
    assert read_list(b"# a\nb.wav\0\xff.wav\0") == ["# a\nb.wav", "\udcff.wav"]
