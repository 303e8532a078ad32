"""What is remembered of a batch, through ends of every kind."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import msgspec
import pytest

from edge_asr.batch.ledger import FILE, FOLDER, Entry, Ledger, Recipe
from edge_asr.batch.recordings import Recording, stamp_of
from edge_asr.errors import BatchBusy, ConfigurationError

RECIPE = Recipe(model="m", model_digest="1", settings_digests={"engine": "2"}, transcript_format="text", channel="mix")


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    path = tmp_path / "one.wav"
    path.write_bytes(b"audio")
    return Recording(path, "one.wav")


def record(ledger: Ledger, recording: Recording, output: Path, **facts: str) -> None:
    stamp = stamp_of(recording.path)
    assert stamp is not None
    (output / "one.wav.txt").write_text("go\n")
    ledger.record(
        Entry(
            place=recording.place,
            file=str(recording.path),
            size_bytes=stamp.size_bytes,
            mtime_ns=stamp.mtime_ns,
            outputs={} if facts else {"one.wav.txt": 3},
            **facts,  # type: ignore[arg-type]
        )
    )


@pytest.fixture
def reopened() -> Iterator[Callable[..., Ledger]]:
    """Opens ledgers, and closes them."""
    with ExitStack() as stack:

        def reopen(output: Path, recipe: Recipe = RECIPE, *, begin_again: bool = False) -> Ledger:
            ledger = Ledger.open(output, recipe, begin_again=begin_again)
            stack.callback(ledger.close)
            return ledger

        yield reopen


@pytest.fixture
def heard(tmp_path: Path, recording: Recording) -> Path:
    """An output folder in which the recording is done."""
    output = tmp_path / "out"
    ledger = Ledger.open(output, RECIPE)
    record(ledger, recording, output)
    ledger.close()
    return output


def test_what_was_heard_is_remembered(heard, recording, reopened) -> None:
    assert reopened(heard).is_done(recording)


def test_a_recording_that_has_changed_is_not_done(heard, recording, reopened) -> None:
    recording.path.write_bytes(b"other audio")
    assert not reopened(heard).is_done(recording)


@pytest.mark.parametrize("spoil", [Path.unlink, lambda path: path.write_text("half")])
def test_a_recording_whose_transcript_is_gone_or_cut_off_is_not_done(heard, recording, spoil, reopened) -> None:
    spoil(heard / "one.wav.txt")
    assert not reopened(heard).is_done(recording)


def test_a_bad_recording_is_tried_again(tmp_path, recording, reopened) -> None:
    output = tmp_path / "out"
    ledger = reopened(output)
    record(ledger, recording, output, code="audio_unreadable")
    ledger.close()
    assert not reopened(output).is_done(recording)


def test_half_a_line_is_cut_off_and_the_next_one_is_whole(heard, recording, reopened) -> None:
    file = heard / FOLDER / FILE
    with file.open("ab") as ledger_file:
        ledger_file.write(b'{"type":"recording","pla')

    ledger = reopened(heard)
    record(ledger, recording, heard)

    lines = file.read_bytes().splitlines()
    assert [msgspec.json.decode(line)["type"] for line in lines] == ["recipe", "recording", "recording"]
    assert ledger.is_done(recording)


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("model", "model"),
        ("model_digest", "files of the model"),
        ("transcript_format", "--format"),
        ("channel", "--ch"),
    ],
)
def test_transcripts_of_two_kinds_never_share_a_folder(heard, field, words, reopened) -> None:
    with pytest.raises(ConfigurationError, match=f"was begun with other {words}.*--again"):
        reopened(heard, msgspec.structs.replace(RECIPE, **{field: "other"}))


def test_the_settings_that_differ_are_named(heard, reopened) -> None:
    with pytest.raises(ConfigurationError, match=r"was begun with other settings of second_pass \(none, now 3\)"):
        reopened(heard, msgspec.structs.replace(RECIPE, settings_digests={"engine": "2", "second_pass": "3"}))


@pytest.mark.parametrize("has_bad_one", [False, True])
def test_a_folder_without_a_transcript_takes_any_kind(tmp_path, recording, has_bad_one, reopened) -> None:
    with closing(Ledger.open(tmp_path / "out", RECIPE)) as ledger:
        if has_bad_one:
            record(ledger, recording, tmp_path / "out", code="audio_unreadable", message="no audio")
    other = msgspec.structs.replace(RECIPE, model="other")
    record(reopened(tmp_path / "out", other), recording, tmp_path / "out")
    assert (tmp_path / "out" / FOLDER / FILE).read_bytes().count(b"\n") == 2
    assert b'"model":"other"' in (tmp_path / "out" / FOLDER / FILE).read_bytes()


def test_again_forgets(heard, recording, reopened) -> None:
    assert not reopened(heard, msgspec.structs.replace(RECIPE, model="other"), begin_again=True).is_done(recording)


def test_two_at_a_time_are_refused_by_name(heard, reopened) -> None:
    script = (
        "import sys; from pathlib import Path; from tests.batch.test_ledger import RECIPE, Ledger;"
        "ledger = Ledger.open(Path(sys.argv[1]), RECIPE); print('open', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, heard], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path.cwd()
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"open\n"
        with pytest.raises(BatchBusy, match=f"is writing to {heard}"):
            reopened(heard)
        other.communicate(b"")
    reopened(heard).close()
