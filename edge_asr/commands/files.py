"""Files with sentence templates. Nothing is made of them here, so the front process can read them too."""

from __future__ import annotations

from pathlib import Path

from edge_asr.errors import ConfigurationError

SUFFIXES = (".yaml", ".yml", ".json")


def read_command_files(path: Path) -> dict[str, str]:
    """Name to text: of a file, or of every YAML and JSON file in a folder in the order of their names.

    Raises:
        ConfigurationError: There is no such file, it is not text, or the folder has none.
    """
    files = sorted(file for file in path.iterdir() if file.suffix in SUFFIXES) if path.is_dir() else [path]
    if not files:
        raise ConfigurationError(f"the folder {path} has no sentence templates; they are files named *.yaml or *.json")
    return {str(file): _text(file) for file in files}


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"the sentence templates {file} are not text in UTF-8") from error
    except OSError as error:
        raise ConfigurationError(f"the sentence templates {file} cannot be read: {error.strerror}") from error
