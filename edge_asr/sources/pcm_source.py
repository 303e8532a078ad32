"""Plain samples from any stream of bytes: a pipe, ffmpeg's output, a WAV file whose header lies about its size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import BufferedIOBase

from edge_asr.audio import AudioChunk, Float32Array
from edge_asr.errors import AudioUnreadable, AudioUnsupported
from edge_asr.sources.base import BLOCK_FRAMES, check_layout, numbered, rate_warnings
from edge_asr.sources.channels import ChannelChoice
from edge_asr.sources.levels import LevelCheck
from edge_asr.sources.pcm import PcmDecoder, PcmLayout
from edge_asr.sources.wav import MAX_HEADER_BYTES, RIFF_BYTES, WavHeader, parse_wav_header


class PcmSource:
    """Reads samples as they arrive; a live stream is yielded piece by piece and not held up to fill a block.

    Args:
        stream: Read from where it stands; closed with the source.
        name: For error sentences.
        layout: How the samples are written.
        channel: Which of the channels.
        head: Bytes of samples that were read from ``stream`` already.
        promised_bytes: Bytes of samples the header promises; what follows them is not audio. ``None``: all there is.
        available_bytes: Bytes of samples there are, where that is known (a file).
    """

    def __init__(
        self,
        stream: BufferedIOBase,
        name: str,
        layout: PcmLayout,
        channel: ChannelChoice = "mix",
        *,
        head: bytes = b"",
        promised_bytes: int | None = None,
        available_bytes: int | None = None,
    ) -> None:
        check_layout(name, layout.sample_rate_hz, layout.channels)
        self._stream = stream
        self._name = name
        self._layout = layout
        self._decoder = PcmDecoder(layout.encoding, layout.channels, channel)
        self._head = head
        self._promised_bytes = promised_bytes
        self._available_bytes = available_bytes
        self._read_bytes = 0
        self._levels = LevelCheck()
        self._warnings = rate_warnings(layout.sample_rate_hz)

    @property
    def sample_rate_hz(self) -> int:
        """Rate of every chunk."""
        return self._layout.sample_rate_hz

    @property
    def channels(self) -> int:
        """Channels of the recording."""
        return self._layout.channels

    @property
    def duration_s(self) -> float | None:
        """Length by the file's size and the header; ``None`` where neither says."""
        lengths = [length for length in (self._promised_bytes, self._available_bytes) if length is not None]
        return min(lengths) / self._layout.bytes_per_second if lengths else None

    @property
    def warnings(self) -> Sequence[str]:
        """What was found so far."""
        return [*self._warnings, *self._levels.warnings()]

    def __iter__(self) -> Iterator[AudioChunk]:
        """The chunks; an empty stream is ``AudioUnreadable``."""
        yield from numbered(self._blocks(), self.sample_rate_hz)
        if self._read_bytes < self._layout.frame_bytes:
            raise AudioUnreadable(self._name, "it holds no audio")
        self._look_at_the_end()

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()

    def _blocks(self) -> Iterator[Float32Array]:
        while data := self._read():
            self._read_bytes += len(data)
            samples = self._decoder.decode(data)
            yield self._levels.observe(samples) if self._layout.encoding == "f32le" else samples

    def _read(self) -> bytes:
        most = BLOCK_FRAMES * self._layout.frame_bytes
        if self._promised_bytes is not None:
            most = min(most, self._promised_bytes - self._read_bytes)
        if self._head:
            data, self._head = self._head[:most], self._head[most:]
            return data
        return self._stream.read1(most) if most > 0 else b""

    def _look_at_the_end(self) -> None:
        if self._promised_bytes is not None and self._read_bytes < self._promised_bytes:
            rate = self._layout.bytes_per_second
            self._warnings.append(truncation(self._read_bytes / rate, self._promised_bytes / rate))
        elif self._decoder.pending_bytes:
            last = "byte is" if self._decoder.pending_bytes == 1 else f"{self._decoder.pending_bytes} bytes are"
            self._warnings.append(f"it ends inside a sample; the last {last} left out")


def truncation(read_s: float, promised_s: float) -> str:
    """The warning about a recording that is shorter than its header says."""
    return f"it is cut off: it ends after {read_s:.2f} s, its header says {promised_s:.2f} s"


def read_wav_header(stream: BufferedIOBase, name: str, head: bytes = b"") -> tuple[WavHeader, bytes]:
    """Read the header of a WAV file without seeking.

    Args:
        stream: Stands behind ``head``.
        name: For error sentences.
        head: First bytes of the file that were read already.

    Returns:
        The header, and everything read so far (some samples included).

    Raises:
        AudioUnreadable: This is no WAV file, or its header is damaged.
    """
    head = read_head(stream, head)
    is_whole = len(head) < RIFF_BYTES
    try:
        while (header := parse_wav_header(head, is_whole=is_whole)) is None:
            more = stream.read1(BLOCK_FRAMES)
            head += more
            is_whole = not more or len(head) >= MAX_HEADER_BYTES
    except ValueError as error:
        raise AudioUnreadable(name, str(error)) from error
    return header, head


def read_head(stream: BufferedIOBase, head: bytes = b"") -> bytes:
    """Read up to the 12 bytes by which a WAV file is recognised; fewer only at the end of the stream."""
    while len(head) < RIFF_BYTES and (more := stream.read1(RIFF_BYTES - len(head))):
        head += more
    return head


def wav_source(
    stream: BufferedIOBase,
    name: str,
    header: WavHeader,
    head: bytes,
    channel: ChannelChoice = "mix",
    *,
    size_bytes: int | None = None,
) -> PcmSource:
    """The samples behind a header.

    Args:
        stream: Stands behind ``head``; closed with the source.
        name: For error sentences.
        header: As :func:`read_wav_header` gave it; its encoding must be known.
        head: Everything read so far.
        channel: Which of the channels.
        size_bytes: Length of the whole file, where it is known.
    """
    if header.encoding is None:
        raise AudioUnsupported(name, "its samples are compressed in a way that cannot be read from a pipe")
    return PcmSource(
        stream,
        name,
        PcmLayout(header.encoding, header.sample_rate_hz, header.channels),
        channel,
        head=head[header.data_start :],
        promised_bytes=header.data_bytes,
        available_bytes=None if size_bytes is None else size_bytes - header.data_start,
    )
