"""``EDGE_ASR_<GROUP>_<NAME>_FILE``: a variable whose value is in a file, as orchestrators hand out secrets."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from edge_asr.errors import ConfigurationError

SUFFIX = "_FILE"

_MOST_CHARACTERS = 64 << 10
"""More is no secret but the wrong file."""


def variable_texts(environment: Mapping[str, str], settings: Collection[str]) -> dict[str, tuple[str, str]]:
    """Every variable with its text, and the variable that said so.

    Args:
        environment: The process's environment variables.
        settings: The variables that are settings. One whose own name ends like this (``EDGE_ASR_SERVER_TOKEN_FILE``)
            names a file that somebody else reads.

    Raises:
        ConfigurationError: A file cannot be read, or a variable is set both ways.
    """
    texts: dict[str, tuple[str, str]] = {}
    for name, text in environment.items():
        variable = name.removesuffix(SUFFIX)
        if variable == name or variable not in settings or name in settings:
            texts.setdefault(name, (text, name))
        elif text:
            texts[variable] = (_read(name, text, environment.get(variable)), name)
    return texts


def _read(name: str, path: str, value: str | None) -> str:
    if value:
        raise ConfigurationError(f"{name} and {name.removesuffix(SUFFIX)} are both set; unset one")
    try:
        with Path(path).open(encoding="utf-8-sig") as file:
            text = file.read(_MOST_CHARACTERS + 1)
    except OSError as error:
        raise ConfigurationError(f"{name}: {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{name}: {path} is not text in UTF-8") from error
    if len(text) > _MOST_CHARACTERS:
        raise ConfigurationError(f"{name}: {path} holds more than {_MOST_CHARACTERS} characters; name another file")
    return text.strip()
