"""Reads a multipart form with one file: the file goes to disk as it comes, the size is watched while it comes."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect, Request

from edge_asr.errors import AudioUnsupported, LimitExceeded, MachineError, ProtocolViolation
from edge_asr.protocols.openai import ParameterRefused
from edge_asr.servers.dialogue import PeerGone
from edge_asr.settings import LimitSettings

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

MAX_FIELD_BYTES = 64 << 10
MAX_FIELDS = 64
MAX_HEADER_BYTES = 8 << 10
MAX_DISCARDED_BYTES = 32 << 20
MAX_DISCARDING_S = 3.0
FORM_OVERHEAD_BYTES = 1 << 20
"""Boundaries, headers and text fields of a form, beside its file."""


@dataclass(frozen=True, slots=True)
class Upload:
    """A received form."""

    fields: tuple[tuple[str, str], ...]
    """Text fields in the order in which they came."""
    path: Path
    """The file, on disk until the upload is left."""
    file_name: str
    """As the client calls it."""


@contextlib.asynccontextmanager
async def receive_upload(request: Request, limits: LimitSettings, directory: Path | None) -> AsyncIterator[Upload]:
    """Receive the form; the file is deleted on leaving.

    Args:
        request: Its body has not been read.
        limits: Size of the file, and how long the client may pause.
        directory: Where the file is spooled; ``None`` for the system's place for temporary files.

    Raises:
        AudioUnsupported: The body is no multipart form.
        ParameterRefused: The form has no file, or more than one.
        ProtocolViolation: The form is damaged.
        LimitExceeded: The file is too large, or the client paused too long.
        MachineError: The file cannot be written.
        PeerGone: The client hung up.
    """
    boundary = _boundary_of(request)
    with _spool(directory) as spool:
        form = _Form(Path(spool), limits.max_upload_bytes)
        try:
            await _read_body(request, form, boundary, limits)
            yield form.received()
        finally:
            form.close()


def _spool(directory: Path | None) -> tempfile.TemporaryDirectory[str]:
    try:
        return tempfile.TemporaryDirectory(prefix="edge-asr-upload-", dir=directory)
    except OSError as error:
        raise MachineError(f"uploads have no place to wait in: {error}") from error


async def _read_body(request: Request, form: _Form, boundary: bytes, limits: LimitSettings) -> None:
    left = limits.max_upload_bytes + FORM_OVERHEAD_BYTES
    try:
        parser = MultipartParser(boundary, form.callbacks())
        async for piece in _pieces(request, limits.idle_timeout_s):
            left -= len(piece)
            if left < 0:
                raise form.too_large()
            # Parsing writes to disk, which may block for long on an SD card.
            await asyncio.to_thread(parser.write, piece)
        parser.finalize()
    except FormParserError as error:
        raise ProtocolViolation(f"the multipart form is damaged: {error}") from error
    except OSError as error:
        raise MachineError(f"the upload cannot be written to disk: {error.strerror or error}") from error
    if not form.is_complete:
        raise ProtocolViolation("the multipart form ends before its last boundary")


async def _pieces(request: Request, patience_s: float) -> AsyncIterator[bytes]:
    stream = request.stream()
    while True:
        try:
            async with asyncio.timeout(patience_s):
                piece = await anext(stream, None)
        except TimeoutError as error:
            limit = f"{patience_s:g} s"
            raise LimitExceeded("limits.idle_timeout_s", f"an upload that paused for {limit}", limit) from error
        except ClientDisconnect as error:
            raise PeerGone("hung up while uploading") from error
        if piece is None:
            return
        yield piece


async def discard_rest(request: Request) -> None:
    """Read what a refused client still sends, within bounds, so that it reads its refusal.

    Closing a socket that holds unread bytes resets the connection, and most clients read nothing before they have
    written everything.
    """
    left = MAX_DISCARDED_BYTES
    with contextlib.suppress(TimeoutError, ClientDisconnect, RuntimeError):  # the last one: there is nothing left
        async with asyncio.timeout(MAX_DISCARDING_S):
            async for piece in request.stream():
                left -= len(piece)
                if left < 0:
                    return


def _boundary_of(request: Request) -> bytes:
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    if kind.lower() != b"multipart/form-data" or not options.get(b"boundary"):
        raise AudioUnsupported("request", "send the audio as multipart/form-data with a field 'file'")
    return options[b"boundary"]


class _Form:
    """Collects what the multipart parser finds."""

    def __init__(self, spool: Path, max_file_bytes: int) -> None:
        self._spool = spool
        self._max_file_bytes = max_file_bytes
        self._file_bytes = 0
        self._fields: list[tuple[str, str]] = []
        self._file: IO[bytes] | None = None
        self._file_name = ""
        self._headers: dict[bytes, bytes] = {}
        self._header_name = b""
        self._header_value = b""
        self._field_name = ""
        self._field: bytearray | None = None
        self.is_complete = False

    def received(self) -> Upload:
        """The form, when it is complete."""
        if self._file is None:
            raise ParameterRefused("file", "the form has no file; send the audio in a field named 'file'")
        self._file.flush()
        return Upload(tuple(self._fields), Path(self._file.name), self._file_name)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def too_large(self) -> LimitExceeded:
        limit = self._max_file_bytes
        return LimitExceeded("limits.max_upload_bytes", f"an upload of more than {limit} bytes", f"{limit} bytes")

    def callbacks(self) -> MultipartCallbacks:
        """What the parser calls, on the thread that feeds it."""
        return {
            "on_part_begin": self._headers.clear,
            "on_header_field": self._on_header_name,
            "on_header_value": self._on_header_value,
            "on_header_end": self._on_header_end,
            "on_headers_finished": self._on_headers_finished,
            "on_part_data": self._on_data,
            "on_part_end": self._on_part_end,
            "on_end": self._on_end,
        }

    def _on_header_name(self, data: bytes, start: int, end: int) -> None:
        self._header_name += data[start:end]
        self._check_header()

    def _on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]
        self._check_header()

    def _check_header(self) -> None:
        if len(self._header_name) + len(self._header_value) > MAX_HEADER_BYTES:
            raise LimitExceeded("form part header", "a header of the form", f"{MAX_HEADER_BYTES} bytes")

    def _on_header_end(self) -> None:
        self._headers[self._header_name.lower()] = self._header_value
        self._header_name = self._header_value = b""

    def _on_headers_finished(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        self._field_name = options.get(b"name", b"").decode(errors="replace")
        if b"filename" in options:
            self._begin_file(options[b"filename"].decode(errors="replace"))
        elif len(self._fields) >= MAX_FIELDS:
            raise LimitExceeded("form fields", f"more than {MAX_FIELDS} fields", f"{MAX_FIELDS} fields")
        else:
            self._field = bytearray()

    def _begin_file(self, name: str) -> None:
        if self._field_name != "file" or self._file is not None:
            raise ParameterRefused(self._field_name or "file", "the form may have one file, in the field 'file'")
        self._file_name = name
        self._file = (self._spool / f"audio{_suffix(name)}").open("wb")

    def _on_data(self, data: bytes, start: int, end: int) -> None:
        piece = memoryview(data)[start:end]
        if self._field is not None:
            if len(self._field) + len(piece) > MAX_FIELD_BYTES:
                raise LimitExceeded(f"form field {self._field_name!r}", "its value", f"{MAX_FIELD_BYTES} bytes")
            self._field += piece
        elif self._file is not None:
            self._file_bytes += len(piece)
            if self._file_bytes > self._max_file_bytes:
                raise self.too_large()
            self._file.write(piece)

    def _on_part_end(self) -> None:
        if self._field is not None:
            self._fields.append((self._field_name, self._field.decode(errors="replace")))
            self._field = None

    def _on_end(self) -> None:
        self.is_complete = True


def _suffix(name: str) -> str:
    """The extension, which some decoders go by, when it is harmless."""
    suffix = PurePosixPath(name).suffix
    return suffix.lower() if suffix[1:].isalnum() and suffix.isascii() and len(suffix) <= 8 else ""
