"""Files with sentence templates or hotwords. Nothing is made of them here, so the front process can read them too."""

from __future__ import annotations

from pathlib import Path

from edge_asr.errors import ConfigurationError

SUFFIXES = (".yaml", ".yml", ".json")

MOST_HOTWORD_BYTES = 1 << 20


def read_command_files(path: Path) -> dict[str, str]:
    """Name to text: of a file, or of every YAML and JSON file in a folder in the order of their names.

    Raises:
        ConfigurationError: There is no such file, it is not text, or the folder has none.
    """
    files = sorted(file for file in path.iterdir() if file.suffix in SUFFIXES) if path.is_dir() else [path]
    if not files:
        raise ConfigurationError(f"the folder {path} has no sentence templates; they are files named *.yaml or *.json")
    return {str(file): _text(file, "the sentence templates") for file in files}


def read_hotword_file(path: Path) -> dict[str, str]:
    """Name to text of a list of hotwords; a byte order mark is no part of it.

    Raises:
        ConfigurationError: There is no such file, it is too large for a list of words, or not text.
    """
    try:
        size = path.stat().st_size
    except OSError as error:
        raise ConfigurationError(f"the hotwords {path} cannot be read: {error.strerror}") from error
    if size > MOST_HOTWORD_BYTES:
        raise ConfigurationError(f"the hotwords {path} have {size} bytes; at most {MOST_HOTWORD_BYTES} are read")
    return {str(path): _text(path, "the hotwords").removeprefix("\ufeff")}


def _text(file: Path, what: str) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{what} {file} are not text in UTF-8") from error
    except OSError as error:
        raise ConfigurationError(f"{what} {file} cannot be read: {error.strerror}") from error
