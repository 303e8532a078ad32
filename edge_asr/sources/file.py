"""Audio files: libsndfile for what it reads, our own reader for WAV files whose header lies, ffmpeg for the rest.

Whatever the length, a file is read block by block. What a header says is believed where it can be true; a file that
is shorter than its header says is read as far as it goes, with a warning.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, cast

import numpy as np

from edge_asr.audio import AudioChunk, Float32Array
from edge_asr.errors import AudioNotFound, AudioUnreadable, LibraryMissing
from edge_asr.sources.base import BLOCK_FRAMES, AudioSource, check_layout, numbered, rate_warnings
from edge_asr.sources.channels import ChannelChoice, select_channel
from edge_asr.sources.ffmpeg import open_with_ffmpeg
from edge_asr.sources.levels import LevelCheck
from edge_asr.sources.pcm import PcmLayout
from edge_asr.sources.pcm_source import PcmSource, read_wav_header, truncation, wav_source
from edge_asr.sources.wav import WavHeader, is_wav, parse_wav_header

if TYPE_CHECKING:
    import soundfile

_NOT_ITS_BUSINESS = frozenset((1, 4, 7, 18))
"""libsndfile's error codes for formats it does not read; the other codes mean a damaged file of a format it knows."""

_UNKNOWN_FRAMES = 1 << 60
"""A FLAC written to a pipe does not say its length, and libsndfile then gives its largest number."""

RAW_SUFFIXES = frozenset((".raw", ".pcm", ".sln", ".sln16", ".s16", ".ul", ".ulaw", ".al", ".alaw"))
"""Names of files without a header, at whose format ffmpeg would guess."""

_TOLERATED_S = 0.05
"""By so much the length of an MP3 may be a guess."""

_HEAD_BYTES = 1 << 16

_OGG_PAGE = b"OggS"
_OGG_LAST = 4
"""Bit of the sixth byte of an Ogg page: no page of the stream follows."""

_SIZES_DISAGREE = "(should be "
"""In libsndfile's log of a file whose header promises more bytes than there are."""


class SoundFileSource:
    """A file that libsndfile reads."""

    def __init__(
        self, file: soundfile.SoundFile, name: str, channel: ChannelChoice = "mix", *, is_cut_off: bool = False
    ) -> None:
        self._file = file
        self._name = name
        self._channel = channel
        self._is_cut_off = is_cut_off
        self._read_frames = 0
        self._levels = LevelCheck()
        self._warnings = rate_warnings(file.samplerate)

    @property
    def sample_rate_hz(self) -> int:
        """Rate of every chunk."""
        return int(self._file.samplerate)

    @property
    def channels(self) -> int:
        """Channels of the recording."""
        return int(self._file.channels)

    @property
    def duration_s(self) -> float | None:
        """Length by the header; ``None`` where it does not say."""
        return None if self._promised_frames is None else self._promised_frames / self.sample_rate_hz

    @property
    def warnings(self) -> Sequence[str]:
        """What was found so far."""
        return [*self._warnings, *self._levels.warnings()]

    def __iter__(self) -> Iterator[AudioChunk]:
        """The chunks; a file without any is ``AudioUnreadable``."""
        yield from numbered(self._blocks(), self.sample_rate_hz)
        if not self._read_frames:
            raise AudioUnreadable(self._name, "it holds no audio")

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    @property
    def _promised_frames(self) -> int | None:
        frames = int(self._file.frames)
        return frames if frames < _UNKNOWN_FRAMES else None

    def _blocks(self) -> Iterator[Float32Array]:
        is_float = self._file.subtype in ("FLOAT", "DOUBLE")
        while len(frames := self._read()):
            self._read_frames += len(frames)
            samples = select_channel(frames, self._channel)
            yield self._levels.observe(samples) if is_float else samples

    def _read(self) -> Float32Array:
        """The next block, shape (n, channels); n is 0 at the end, and where a damaged file cannot be read on."""
        try:
            frames: Float32Array = self._file.read(BLOCK_FRAMES, dtype="float32", always_2d=True)
        except RuntimeError as error:  # soundfile.LibsndfileError is one
            if not self._read_frames:
                raise AudioUnreadable(self._name, f"it is damaged: {_reason(error)}") from error
            self._warnings.append(f"it is damaged and was read only up to {self._read_s:.2f} s: {_reason(error)}")
            return np.zeros((0, 1), np.float32)
        if not len(frames):
            self._look_at_the_end()
        return frames

    @property
    def _read_s(self) -> float:
        return self._read_frames / self.sample_rate_hz

    def _look_at_the_end(self) -> None:
        missing = (self._promised_frames or 0) - self._read_frames
        if missing > _TOLERATED_S * self.sample_rate_hz:
            self._warnings.append(truncation(self._read_s, self._read_s + missing / self.sample_rate_hz))
        elif self._is_cut_off or _SIZES_DISAGREE in self._file.extra_info:
            self._warnings.append(f"it is cut off: it ends after {self._read_s:.2f} s, in the middle")


def open_file(path: Path, channel: ChannelChoice = "mix", *, name: str = "") -> AudioSource:
    """Open a recording, whatever its format.

    Args:
        path: A regular file.
        channel: Which of its channels.
        name: What error sentences call it; the path when empty.

    Raises:
        AudioNotFound: There is no such file.
        AudioUnreadable: It is empty, damaged or no audio.
        AudioUnsupported: Only ffmpeg could read it, and ffmpeg is not installed.
    """
    name = name or str(path)
    head, size_bytes = _read_head(path, name)
    header, damage = _wav_header(head, size_bytes)
    if header is not None:
        check_layout(name, header.sample_rate_hz, header.channels)
        if header.encoding is not None and not _is_honest(header, size_bytes):
            return _open_lying_wav(path, name, channel, size_bytes)
    try:
        return _open_with_libsndfile(path, name, channel)
    except AudioUnreadable as error:
        raise AudioUnreadable(name, damage or error.reason) from error


def open_raw_file(path: Path, layout: PcmLayout, channel: ChannelChoice = "mix", *, name: str = "") -> AudioSource:
    """Open a file of samples without a header.

    Args:
        path: A regular file.
        layout: How the samples are written.
        channel: Which of the channels.
        name: What error sentences call it; the path when empty.

    Raises:
        AudioNotFound: There is no such file.
        AudioUnreadable: It is empty or cannot be opened.
    """
    name = name or str(path)
    _, size_bytes = _read_head(path, name)
    return PcmSource(path.open("rb"), name, layout, channel, available_bytes=size_bytes)


def _read_head(path: Path, name: str) -> tuple[bytes, int]:
    """The first bytes and the size."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
            size_bytes = os.fstat(file.fileno()).st_size
    except FileNotFoundError:
        raise AudioNotFound(name) from None
    except (OSError, ValueError) as error:  # a name with a NUL in it is a ValueError
        raise AudioUnreadable(name, f"cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if not head:
        raise AudioUnreadable(name, "the file is empty")
    return head, size_bytes


def _wav_header(head: bytes, size_bytes: int) -> tuple[WavHeader | None, str]:
    """The header if the file is a WAV, and what is wrong with it where it cannot be read."""
    if not is_wav(head):
        return None, ""
    try:
        return parse_wav_header(head, is_whole=len(head) == size_bytes), ""
    except ValueError as error:
        return None, str(error)


def _is_honest(header: WavHeader, size_bytes: int) -> bool:
    promised = header.data_bytes
    return header.is_well_formed and promised is not None and header.data_start + promised <= size_bytes


def _open_lying_wav(path: Path, name: str, channel: ChannelChoice, size_bytes: int) -> AudioSource:
    stream = path.open("rb")
    try:
        header, head = read_wav_header(stream, name)
        return wav_source(stream, name, header, head, channel, size_bytes=size_bytes)
    except BaseException:
        stream.close()
        raise


def _open_with_libsndfile(path: Path, name: str, channel: ChannelChoice) -> AudioSource:
    soundfile = _libsndfile()
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        # By descriptor: by name, soundfile takes a file called x.raw for samples without a header.
        file = soundfile.SoundFile(descriptor, closefd=True)
    except soundfile.LibsndfileError as error:
        if error.code in _NOT_ITS_BUSINESS:
            return _open_with_ffmpeg(path, name, channel)
        raise AudioUnreadable(name, f"it is damaged: {_reason(error)}") from error
    # soundfile seeks after every read of a file that can seek: slow, noisy with MP3, and fatal in a damaged FLAC.
    file.seekable = lambda: False
    source = SoundFileSource(file, name, channel, is_cut_off=_lacks_last_page(path))
    try:
        _check(source, name)
    except AudioUnreadable:
        source.close()
        raise
    return source


def _lacks_last_page(path: Path) -> bool:
    """Whether this is an Ogg file without the page that is marked as its last one."""
    with path.open("rb") as file:
        if file.read(4) != _OGG_PAGE:
            return False
        file.seek(-min(_HEAD_BYTES, os.fstat(file.fileno()).st_size), os.SEEK_END)
        tail = file.read()
    page = tail.rfind(_OGG_PAGE)
    return page >= 0 and len(tail) > page + 5 and not tail[page + 5] & _OGG_LAST


def _check(source: AudioSource, name: str) -> None:
    check_layout(name, source.sample_rate_hz, source.channels)
    if source.duration_s == 0:
        raise AudioUnreadable(name, "it holds no audio")


def _open_with_ffmpeg(path: Path, name: str, channel: ChannelChoice) -> AudioSource:
    suffix = path.suffix.lower()
    hint = (
        "; if it holds samples without a header, say how they are written "
        "(`transcribe` and `batch` take --raw s16le:16000:1)"
    )
    if suffix in RAW_SUFFIXES:
        raise AudioUnreadable(name, "it has no header" + hint)
    try:
        return open_with_ffmpeg(path, name, channel)
    except AudioUnreadable as error:
        raise AudioUnreadable(name, error.reason + hint * (suffix == ".wav")) from error


def _libsndfile() -> ModuleType:
    try:
        import soundfile
    except OSError as error:
        raise LibraryMissing(
            "libsndfile", "install it (Debian: `apt install libsndfile1`) or use a wheel of soundfile that brings it"
        ) from error
    return cast("ModuleType", soundfile)


def _reason(error: Exception) -> str:
    return str(getattr(error, "error_string", error)).removeprefix("Error : ").strip().rstrip(".")
