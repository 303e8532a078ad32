"""Where transcripts go: standard output, one file, or a file per recording in a directory."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Protocol

from edge_asr.cli.transcripts import (
    SUFFIXES,
    RecordingTranscript,
    TranscriptFormat,
    document,
    event_entry,
    json_line,
)
from edge_asr.errors import ConfigurationError, MachineError
from edge_asr.events import Final, Partial


class TranscriptOutput(Protocol):
    """Takes transcripts as they are made."""

    def event(self, file: str, channel: str, event: Partial | Final) -> None:
        """Something was said in this file, and in this channel of it where each is transcribed by itself."""
        ...

    def transcript(self, transcript: RecordingTranscript) -> None:
        """A recording is done."""
        ...

    def finish(self) -> None:
        """All recordings are done."""
        ...


class TextSink(Protocol):
    """What text is written to."""

    def write(self, text: str, /) -> object:
        """Append text."""
        ...

    def flush(self) -> object:
        """Let it be seen now."""
        ...


class _StandardOutput:
    """Standard output as it is at the moment: while a progress bar is drawn on the same terminal, it is replaced."""

    def write(self, text: str, /) -> object:
        return sys.stdout.write(text)

    def flush(self) -> object:
        return sys.stdout.flush()


class TextOutput:
    """One line per segment, as soon as it is final; with several recordings each line begins with its file."""

    def __init__(self, stream: TextSink, *, names_files: bool) -> None:
        self._stream = stream
        self._names_files = names_files

    def event(self, file: str, channel: str, event: Partial | Final) -> None:
        """Write a final."""
        if isinstance(event, Final) and event.text:
            name = f"{file} ({channel})" if channel else file
            self._stream.write(f"{name}: {event.text}\n" if self._names_files else f"{event.text}\n")
            self._stream.flush()

    def transcript(self, _transcript: RecordingTranscript) -> None:
        """Everything was written already."""

    def finish(self) -> None:
        """Nothing is left."""


class JsonLinesOutput:
    """One line per recording; with partials also one per event, which has a ``type``."""

    def __init__(self, stream: TextSink, *, with_events: bool) -> None:
        self._stream = stream
        self._with_events = with_events

    def event(self, file: str, channel: str, event: Partial | Final) -> None:
        """Write an event."""
        if self._with_events:
            self._write(json_line(event_entry(file, channel, event)))

    def transcript(self, transcript: RecordingTranscript) -> None:
        """Write a recording."""
        self._write(document([transcript], "jsonl"))

    def finish(self) -> None:
        """Nothing is left."""

    def _write(self, line: str) -> None:
        self._stream.write(line)
        self._stream.flush()


class DocumentOutput:
    """One document, complete when everything is: a JSON list, or the subtitles of one recording."""

    def __init__(self, stream: TextSink, transcript_format: TranscriptFormat) -> None:
        self._stream = stream
        self._format = transcript_format
        self._transcripts: list[RecordingTranscript] = []

    def event(self, file: str, channel: str, event: Partial | Final) -> None:
        """Nothing is written before the end."""

    def transcript(self, transcript: RecordingTranscript) -> None:
        """Keep it."""
        self._transcripts.append(transcript)

    def finish(self) -> None:
        """Write the document; there are no subtitles of a recording that could not be read."""
        if self._transcripts or self._format == "json":
            self._stream.write(document(self._transcripts, self._format))


class DirectoryOutput:
    """A file per recording, named like it."""

    def __init__(self, directory: Path, transcript_format: TranscriptFormat) -> None:
        self._directory = directory
        self._format = transcript_format

    def event(self, file: str, channel: str, event: Partial | Final) -> None:
        """Nothing is written before the recording is done."""

    def transcript(self, transcript: RecordingTranscript) -> None:
        """Write its file."""
        path = self._directory / file_name(transcript.file, transcript.channel, self._format)
        try:
            path.write_text(document([transcript], self._format), encoding="utf-8")
        except OSError as error:
            raise MachineError(f"cannot write {path}: {error.strerror}") from error

    def finish(self) -> None:
        """Nothing is left."""


@contextmanager
def open_output(
    output: str | None,
    transcript_format: TranscriptFormat,
    files: Sequence[str],
    *,
    is_each_channel: bool,
    with_events: bool,
) -> Iterator[TranscriptOutput]:
    """Find out where transcripts go, before any work is done.

    Args:
        output: What ``-o`` names; an existing directory, or a name with ``/`` at its end, gets a file per recording.
        transcript_format: How they are written.
        files: The recordings, as named on the command line.
        is_each_channel: Several transcripts per recording.
        with_events: Whether ``jsonl`` also gets what is said on the way.

    Raises:
        ConfigurationError: The place cannot be written, or cannot hold all of them.
    """
    is_several = len(files) > 1 or is_each_channel
    if output is not None and (output.endswith("/") or Path(output).is_dir()):
        yield _directory_output(Path(output), transcript_format, files)
        return
    if is_several and transcript_format in ("srt", "vtt"):
        raise ConfigurationError(f"{transcript_format} holds one recording; name a directory for several: -o NAME/")
    with _open_stream(output) as stream:
        if transcript_format == "text":
            yield TextOutput(stream, names_files=is_several)
        elif transcript_format == "jsonl":
            yield JsonLinesOutput(stream, with_events=with_events)
        else:
            yield DocumentOutput(stream, transcript_format)


def file_name(file: str, channel: str, transcript_format: TranscriptFormat) -> str:
    """Name of the file that holds a recording's transcript."""
    stem = "standard-input" if file == "-" else Path(file).stem
    return f"{stem}.{channel}{SUFFIXES[transcript_format]}" if channel else stem + SUFFIXES[transcript_format]


def _directory_output(directory: Path, transcript_format: TranscriptFormat, files: Sequence[str]) -> DirectoryOutput:
    taken: dict[str, str] = {}
    for file in files:
        name = file_name(file, "", transcript_format)
        if name in taken:
            raise ConfigurationError(f"{taken[name]} and {file} would both be written to {directory / name}")
        taken[name] = file
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(f"cannot make the directory {directory}: {error.strerror}") from error
    return DirectoryOutput(directory, transcript_format)


@contextmanager
def _open_stream(output: str | None) -> Iterator[TextSink]:
    if output is None:
        yield _StandardOutput()
        return
    with ExitStack() as stack:
        try:
            stream = stack.enter_context(Path(output).open("w", encoding="utf-8"))
        except OSError as error:
            raise ConfigurationError(f"cannot write {output}: {error.strerror}") from error
        yield stream
