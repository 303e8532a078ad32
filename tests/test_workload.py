"""What a bench listens to: manifests, folders, and where speech begins and ends."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from edge_asr.errors import InputError
from edge_asr.workload import (
    AlignedWord,
    Clip,
    bundled_clips,
    clips_for,
    load_clip,
    read_clips,
    sha256_of_audio,
    speech_edges,
)
from tests.bench.rigs import clip as recording


def manifest(folder: Path, content: str | bytes, name: str = "list.tsv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def complaint(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_clips(path)
    return str(caught.value)


# Manifests


def test_a_tsv_names_recordings_beside_it(tmp_path):
    path = manifest(tmp_path, "audio\ttext\na.wav\tgo forward\nsub/b.flac\t\n")
    assert read_clips(path) == (
        Clip("a.wav", tmp_path / "a.wav", "go forward"),
        Clip("sub/b.flac", tmp_path / "sub/b.flac", ""),
    )


def test_columns_may_stand_in_any_order_and_others_do_not_matter(tmp_path):
    path = manifest(tmp_path, "speaker\ttext\taudio\nanna\tgo\ta.wav\n")
    assert read_clips(path) == (Clip("a.wav", tmp_path / "a.wav", "go", speaker="anna"),)


def test_an_absolute_path_stays_one(tmp_path):
    assert read_clips(manifest(tmp_path, "audio\n/data/a.wav\n"))[0].path == Path("/data/a.wav")


def test_vocabulary_and_words_are_read_from_tsv(tmp_path):
    path = manifest(tmp_path, "audio\ttext\tvocabulary\twords\na.wav\tgo on\tcommands\tgo:0.1:0.4 on:0.5:0.75\n")
    (clip,) = read_clips(path)
    assert clip.vocabulary == "commands"
    assert clip.words == (AlignedWord("go", 0.1, 0.4), AlignedWord("on", 0.5, 0.75))


def test_jsonl_holds_the_same(tmp_path):
    lines = [
        {"audio": "a.wav", "text": "go on", "words": [["go", 0.1, 0.4], ["on", 0.5, 0.75]]},
        {"audio": "b.wav"},
    ]
    path = manifest(tmp_path, "\n".join(json.dumps(line) for line in lines), "list.jsonl")
    assert read_clips(path) == (
        Clip("a.wav", tmp_path / "a.wav", "go on", words=(AlignedWord("go", 0.1, 0.4), AlignedWord("on", 0.5, 0.75))),
        Clip("b.wav", tmp_path / "b.wav"),
    )


@pytest.mark.parametrize("content", ["audio\ttext\na.wav\tgo\n", '{"audio": "a.wav", "text": "go"}\n'])
def test_a_byte_order_mark_and_windows_line_ends_do_not_matter(tmp_path, content):
    path = manifest(tmp_path, b"\xef\xbb\xbf" + content.replace("\n", "\r\n").encode())
    assert read_clips(path) == (Clip("a.wav", tmp_path / "a.wav", "go"),)


def test_quotes_and_colons_in_tsv_are_text(tmp_path):
    path = manifest(tmp_path, 'audio\ttext\twords\na.wav\tsay "go" now\t12:30:0.1:0.4\n')
    (clip,) = read_clips(path)
    assert clip.reference == 'say "go" now'
    assert clip.words == (AlignedWord("12:30", 0.1, 0.4),)


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\t\r\n\0"), max_size=20).map(str.strip)


@given(st.lists(TEXTS, min_size=1, max_size=5))
def test_any_text_survives_jsonl(tmp_path_factory, texts):
    folder = tmp_path_factory.mktemp("round-trip")
    rows = [{"audio": f"{number}.wav", "text": text} for number, text in enumerate(texts)]
    lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    assert [clip.reference for clip in read_clips(manifest(folder, lines, "list.jsonl"))] == texts


@given(st.lists(TEXTS, min_size=1, max_size=5))
def test_any_text_survives_tsv(tmp_path_factory, texts):
    folder = tmp_path_factory.mktemp("round-trip")
    lines = "\n".join(["audio\ttext", *(f"{number}.wav\t{text}" for number, text in enumerate(texts))])
    assert [clip.reference for clip in read_clips(manifest(folder, lines))] == texts


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        ("audio\ttext\na.wav\tgo\n\tgo\n", 3, "`audio` is missing"),
        ("text\taudio\ngo\n", 2, "`audio` is missing"),
        ("audio\twords\na.wav\tgo\n", 2, "is not a word with its start and end"),
        ("audio\twords\na.wav\tgo:zero:one\n", 2, "could not convert"),
        ("audio\twords\na.wav\tgo:0.5:0.4\n", 2, "out of order"),
        ("audio\twords\na.wav\tgo:0.5:0.6 on:0.2:0.3\n", 2, "out of order"),
        ("audio\twords\na.wav\tgo:0.5:inf\n", 2, "out of order"),
        ("audio\twords\na.wav\tgo:nan:0.5\n", 2, "out of order"),
        ("audio\na.wav\na.wav\n", 3, "a.wav is listed a second time"),
        ('{"audio": "a.wav"}\n{"text": "go"}\n', 2, "`audio` is missing"),
        ('{"audio": "a.wav"}\n{"audio": 7}\n', 2, "`audio` is missing"),
        ('{"audio": "a.wav"}\n\n["b.wav"]\n', 3, "it is no object"),
        ('{"audio": "a.wav"}\n{"audio": \n', 2, "not JSON"),
        ('{"audio": "a.wav", "words": [["go", 0.1]]}\n', 1, "is not a word with its start and end"),
        ('{"audio": "a.wav", "words": 7}\n', 1, "not iterable"),
    ],
)
def test_a_bad_line_is_named_with_its_number(tmp_path, content, line, reason):
    said = complaint(manifest(tmp_path, content))
    assert f"line {line}: " in said
    assert reason in said


def test_a_tsv_without_its_header_is_refused(tmp_path):
    assert "names its columns" in complaint(manifest(tmp_path, "a.wav\tgo forward\n"))


def test_a_column_beyond_all_measure_is_refused(tmp_path):
    assert "line 2" in complaint(manifest(tmp_path, f"audio\ttext\na.wav\t{'x' * 200_000}\n"))


@pytest.mark.parametrize("content", ["", "audio\ttext\n", "\n\n"])
def test_an_empty_manifest_is_refused(tmp_path, content):
    assert str(tmp_path) in complaint(manifest(tmp_path, content))


def test_what_is_no_text_is_refused(tmp_path):
    assert "UTF-8" in complaint(manifest(tmp_path, b"RIFF\xff\xfe\x00WAVE"))


def test_a_missing_manifest_is_named(tmp_path):
    assert "no such manifest or folder" in complaint(tmp_path / "nowhere.tsv")


# Folders


def test_a_folder_gives_its_recordings_with_the_texts_beside_them(tmp_path):
    for name in ("b.wav", "a.FLAC", "deep/c.mp3", "notes.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "b.txt").write_text("go forward\n", encoding="utf-8-sig")
    assert read_clips(tmp_path) == (
        Clip("a.FLAC", tmp_path / "a.FLAC"),
        Clip("b.wav", tmp_path / "b.wav", "go forward"),
        Clip("deep/c.mp3", tmp_path / "deep/c.mp3"),
    )


def test_a_folder_without_recordings_is_refused(tmp_path):
    assert "no recordings in it" in complaint(tmp_path)


def test_a_reference_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "a.wav").touch()
    (tmp_path / "a.txt").write_bytes(b"\xff\xfe")
    assert "a.txt" in complaint(tmp_path)


# Inside the package


def test_the_bundled_recordings_are_there():
    for clip in bundled_clips():
        assert clip.path.is_file()
        assert clip.reference


def test_a_model_of_commands_is_judged_by_commands():
    commands = clips_for(bundled_clips(), knows_all_words=False)
    assert not {clip.name for clip in commands} & {"austen-0870.flac", "austen-0880.flac", "austen-0890.flac"}
    assert len(commands) == 16
    assert len(clips_for(bundled_clips(), knows_all_words=True)) == 19


def test_every_bundled_recording_says_where_its_words_are():
    for clip in bundled_clips():
        assert [word.text for word in clip.words] == clip.reference.split()


# Audio


def written(path: Path, samples: np.ndarray, rate_hz: int = 16_000) -> Path:
    soundfile.write(path, samples, rate_hz, subtype="PCM_16")
    return path


def test_samples_come_as_the_client_would_send_them(tmp_path):
    path = written(tmp_path / "a.wav", np.array([0, 16384, -32768, 32767], np.int16), 8000)
    audio = load_clip(Clip("a", path))
    assert audio.samples.tolist() == [0, 16384, -32768, 32767]
    assert (audio.sample_rate_hz, audio.audio_s) == (8000, 0.0005)


def test_pieces_are_as_long_as_asked_and_leave_nothing_out():
    audio = recording(0.25)
    assert [len(piece) for piece in audio.pieces(100)] == [3200, 3200, 1600]


def test_speech_lies_where_the_words_are(tmp_path):
    path = written(tmp_path / "a.wav", np.full(16_000, 1000, np.int16))
    words = (AlignedWord("go", 0.2, 0.9), AlignedWord("on", 0.5, 0.6))
    audio = load_clip(Clip("a", path, words=words))
    assert (audio.onset_s, audio.end_s) == (0.2, 0.9)


def test_words_of_a_longer_recording_are_refused(tmp_path):
    path = written(tmp_path / "a.wav", np.full(16_000, 1000, np.int16))
    with pytest.raises(InputError, match=r"end at 1\.20 s and the recording at 1\.00 s"):
        load_clip(Clip("a", path, words=(AlignedWord("go", 0.2, 1.2),)))


def test_a_recording_without_a_sample_is_refused(tmp_path):
    with pytest.raises(InputError):
        load_clip(Clip("a", written(tmp_path / "a.wav", np.zeros(0, np.int16))))


def test_without_words_speech_lies_where_it_is_loud():
    samples = np.zeros(16_000, np.float32)
    samples[4800:9600] = 0.3
    samples[12_000:12_800] = 0.001  # 50 dB below: a breath
    assert speech_edges(samples, 16_000) == (0.3, 0.6)


def test_silence_has_no_edges_but_its_own():
    assert speech_edges(np.zeros(8000, np.float32), 16_000) == (0.0, 0.5)
    assert speech_edges(np.zeros(10, np.float32), 16_000) == (0.0, 10 / 16_000)


def test_the_digest_is_that_of_what_is_heard(tmp_path):
    samples = (1000 * np.sin(np.arange(1600))).astype(np.int16)
    wav = load_clip(Clip("a", written(tmp_path / "a.wav", samples)))
    flac = load_clip(Clip("b", written(tmp_path / "a.flac", samples)))
    slower = load_clip(Clip("c", written(tmp_path / "c.wav", samples, 8000)))
    assert sha256_of_audio(wav) == sha256_of_audio(flac) != sha256_of_audio(slower)
