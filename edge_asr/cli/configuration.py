"""Defaults, files, environment and options, merged once into :class:`edge_asr.settings.Settings`.

Later layers win: defaults, what ``tune`` found out for this board and model, ``/etc/edge-asr/edge-asr.toml``,
``$XDG_CONFIG_HOME/edge-asr/edge-asr.toml`` (or, instead of both, the file named by ``--config``),
``EDGE_ASR_<GROUP>_<NAME>`` (or ``…_FILE``, which names a file with the value), options. Every value keeps the name of
the layer it came from.
What nobody knows is an error with a suggestion, since a misspelt setting that is passed over in silence
looks like one that does nothing.
"""

from __future__ import annotations

import dataclasses
import difflib
import re
import tomllib
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from edge_asr.cli.variable_files import variable_texts
from edge_asr.errors import ConfigurationError
from edge_asr.settings import NumberOrAuto, Settings, group_names

SYSTEM_FILE = Path("/etc/edge-asr/edge-asr.toml")
"""The machine's configuration."""

DEFAULT_ORIGIN = "default"

AUTO = "auto"

_MOST_CHARACTERS = 1 << 20
"""More is no configuration but the wrong file, perhaps one without an end."""

_PREFIX = "EDGE_ASR_"
_NOT_SETTINGS = frozenset(("EDGE_ASR_HOME",))
"""Variables that other parts read: the place of the model store."""


@dataclass(frozen=True, slots=True)
class Key:
    """One setting."""

    group: str
    """Table of the file; empty for a setting outside all tables."""
    name: str
    type: object
    """Its annotation: ``bool``, ``int``, ``float``, ``str``, a ``Literal`` of texts, a number or ``auto``, a tuple of
    ``str`` or ``int``."""
    default: object

    @property
    def path(self) -> str:
        """Such as ``engine.threads``."""
        return f"{self.group}.{self.name}" if self.group else self.name

    @property
    def variable(self) -> str:
        """Such as ``EDGE_ASR_ENGINE_THREADS``."""
        return _PREFIX + self.path.replace(".", "_").upper()


@dataclass(frozen=True, slots=True)
class Layer:
    """Values from one place, by the path of their key."""

    values: Mapping[str, object]
    origins: Mapping[str, str]
    """Key path to the file, variable or option that set it."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """The merged settings and where each value came from."""

    settings: Settings
    origins: Mapping[str, str]
    """Key path to ``default``, a file, a variable or an option; every key is there."""

    def value(self, path: str) -> object:
        """The value of a key such as ``engine.threads``."""
        key = KEYS[path]
        return getattr(getattr(self.settings, key.group) if key.group else self.settings, key.name)


def load(
    environment: Mapping[str, str],
    config_file: Path | None = None,
    options: Mapping[str, tuple[str, object]] | None = None,
    tuned: Callable[[str], Layer] | None = None,
) -> Configuration:
    """Read every layer and merge them.

    Args:
        environment: The process's environment variables.
        config_file: Read instead of the system's and the user's file.
        options: Key path to the option's name and value, for those that were given.
        tuned: The lowest layer, given the model that the other layers name (empty for the active one).

    Raises:
        ConfigurationError: A file is missing or not TOML, or something in a layer is unknown or wrong.
    """
    files = [read_layer(path) for path in _files(environment, config_file)]
    layers = [*files, environment_layer(environment), option_layer(options or {})]
    merged = merge(layers)
    return merge([tuned(merged.settings.model), *layers]) if tuned is not None else merged


def read_layer(path: Path) -> Layer:
    """Read a configuration file.

    Raises:
        ConfigurationError: It cannot be read, is not TOML, or holds something unknown or wrong.
    """
    try:
        with path.open(encoding="utf-8-sig") as file:  # editors on Windows begin it with a byte order mark
            text = file.read(_MOST_CHARACTERS + 1)
    except OSError as error:
        raise ConfigurationError(f"configuration file {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"configuration file {path} is not text in UTF-8") from error
    if len(text) > _MOST_CHARACTERS:
        raise ConfigurationError(
            f"configuration file {path} holds more than {_MOST_CHARACTERS} characters; name another"
        )
    return toml_layer(text, str(path))


def toml_layer(text: str, origin: str) -> Layer:
    """The layer of a TOML document; one error names everything that is wrong with it.

    Args:
        text: The document.
        origin: The file's name.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{origin}{_why_not_toml(str(error))}") from error
    values: dict[str, object] = {}
    problems: list[str] = []
    for path, value in _entries(document):
        try:
            values[path] = _checked(_key(path), value)
        except ConfigurationError as error:
            problems.append(f"{origin}: {error}")
    if problems:
        # What has a type may be out of range all the same; who mends the file should hear of everything at once.
        problems += [f"{origin}: {problem}" for problem in _problems(values)]
        raise ConfigurationError("\n".join(problems))
    return Layer(values, dict.fromkeys(values, origin))


def environment_layer(environment: Mapping[str, str]) -> Layer:
    """The layer of ``EDGE_ASR_*``; an empty variable counts as not set."""
    by_variable = {key.variable: key for key in KEYS.values()}
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    for name, (text, origin) in sorted(variable_texts(environment, by_variable).items()):
        if not name.startswith(_PREFIX) or name in _NOT_SETTINGS or not text:
            continue
        if (key := by_variable.get(name)) is None:
            _complain_about_variable(name, list(by_variable))
            continue
        try:
            values[key.path] = _parsed(key, text)
        except ConfigurationError as error:
            raise ConfigurationError(f"{origin}: {error}") from error
        origins[key.path] = origin
    return Layer(values, origins)


def option_layer(options: Mapping[str, tuple[str, object]]) -> Layer:
    """The layer of the command line."""
    return Layer(
        {path: _checked(KEYS[path], value) for path, (_, value) in options.items()},
        {path: option for path, (option, _) in options.items()},
    )


def merge(layers: Sequence[Layer]) -> Configuration:
    """Defaults below the layers, the last one on top.

    Raises:
        ConfigurationError: A value is outside its range; the sentence says who set it.
    """
    values: dict[str, object] = {}
    origins = dict.fromkeys(KEYS, DEFAULT_ORIGIN)
    for layer in layers:
        values.update(layer.values)
        origins.update(layer.origins)
    if problems := _problems(values):
        raise ConfigurationError("\n".join(f"{problem}{_blame(problem, origins)}" for problem in problems))
    return Configuration(_settings(values), MappingProxyType(origins))


def suggestion(word: str, known: Sequence[str]) -> str:
    """``; did you mean …?`` where a known word is close, else nothing."""
    close = difflib.get_close_matches(word, known, n=1)
    return f"; did you mean {close[0]}?" if close else ""


# Which settings there are.


def _keys() -> Iterator[Key]:
    hints = typing.get_type_hints(Settings)
    for entry in dataclasses.fields(Settings):
        if entry.name not in group_names():
            yield Key("", entry.name, hints[entry.name], entry.default)
            continue
        group = hints[entry.name]
        types = typing.get_type_hints(group)
        for setting in dataclasses.fields(group):
            yield Key(entry.name, setting.name, types[setting.name], setting.default)


KEYS: Mapping[str, Key] = MappingProxyType({key.path: key for key in _keys()})
"""Every setting by its path, in the order of the settings classes."""


def _problems(values: Mapping[str, object]) -> list[str]:
    """Everything that is out of range: who mends one value should not then hear of the next."""
    hints = typing.get_type_hints(Settings)
    problems: dict[str, None] = {}
    for group in group_names():
        given = {KEYS[path].name: value for path, value in values.items() if KEYS[path].group == group}
        while (problem := _problem(hints[group], given)) and problem not in problems:
            problems[problem] = None
            # The sentence begins with the setting it is about; without it the next one comes to light.
            given.pop(problem.partition(" ")[0].removeprefix(f"{group}."), None)
    return list(problems)


def _problem(group: Callable[..., object], given: Mapping[str, object]) -> str:
    try:
        group(**given)
    except ConfigurationError as error:
        return str(error)
    return ""


def _settings(values: Mapping[str, object]) -> Settings:
    hints = typing.get_type_hints(Settings)
    arguments: dict[str, object] = {path: value for path, value in values.items() if not KEYS[path].group}
    for group in group_names():
        given = {KEYS[path].name: value for path, value in values.items() if KEYS[path].group == group}
        arguments[group] = hints[group](**given)
    build: Callable[..., Settings] = Settings
    return build(**arguments)


def _key(path: str) -> Key:
    if path in KEYS:
        return KEYS[path]
    group = path.partition(".")[0]
    if "." in path and group not in group_names():
        raise ConfigurationError(f"unknown table [{group}]{suggestion(group, group_names())}")
    name = path.rpartition(".")[2]
    if name != path and name in KEYS:
        raise ConfigurationError(f"unknown setting {path}; write {name} above the first [table]")
    raise ConfigurationError(f"unknown setting {path}{suggestion(path, list(KEYS))}")


def _why_not_toml(reason: str) -> str:
    """The library's reason; with the remedy where settings were added at the end of a file that has their table."""
    if twice := re.fullmatch(r"Cannot declare \((.*?),?\) twice (\(.*\))", reason):
        table = ".".join(re.findall(r"'([^']*)'", twice[1]))
        return f": the table [{table}] begins again {twice[2]}; write its settings below the first [{table}]"
    if reason.startswith("Cannot overwrite a value"):
        return f": something is set twice{reason.removeprefix('Cannot overwrite a value')}"
    return f" is not TOML: {reason}"


def _entries(document: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for name, value in document.items():
        if isinstance(value, dict) and name not in KEYS:
            yield from ((f"{name}.{inner}", setting) for inner, setting in value.items())
        else:
            yield name, value


# Values and their types.


def _checked(key: Key, value: object) -> object:
    """A value that already has a type, made exactly that of the key."""
    kind = _KINDS[_base_type(key.type)]
    if not kind.accepts(value):
        raise ConfigurationError(f"{key.path} = {value!r} is not {kind.words}")
    return kind.convert(value)


def _parsed(key: Key, text: str) -> object:
    """A value written as text in the environment."""
    kind = _KINDS[_base_type(key.type)]
    try:
        return kind.parse(text.strip())
    except ValueError as error:
        raise ConfigurationError(f"{key.path} = {text!r} is not {kind.words}") from error


def _base_type(annotation: object) -> object:
    return str if typing.get_origin(annotation) is typing.Literal else annotation


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_whole_or_auto(value: object) -> bool:
    return value == AUTO or _is_whole(value)


def _parse_bool(text: str) -> bool:
    words = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
    if text.lower() not in words:
        raise ValueError(text)
    return words[text.lower()]


def _split(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]


@dataclass(frozen=True, slots=True)
class _Kind:
    words: str
    """What such a value is, after "is not"."""
    accepts: Callable[[object], bool]
    convert: Callable[[typing.Any], object]
    parse: Callable[[str], object]


_KINDS: Mapping[object, _Kind] = {
    bool: _Kind("true or false", lambda value: isinstance(value, bool), bool, _parse_bool),
    int: _Kind("a whole number", _is_whole, int, int),
    NumberOrAuto: _Kind(
        "a whole number or auto",
        _is_whole_or_auto,
        lambda value: value,
        lambda text: AUTO if text == AUTO else int(text),
    ),
    float: _Kind("a number", _is_number, float, float),
    str: _Kind("a text", lambda value: isinstance(value, str), str, str),
    tuple[str, ...]: _Kind(
        "a list of texts",
        lambda value: isinstance(value, list | tuple) and all(isinstance(item, str) for item in value),
        tuple,
        lambda text: tuple(_split(text)),
    ),
    tuple[int, ...]: _Kind(
        "a list of whole numbers",
        lambda value: isinstance(value, list | tuple) and all(map(_is_whole, value)),
        tuple,
        lambda text: tuple(int(item) for item in _split(text)),
    ),
}


# Where things come from.


def _files(environment: Mapping[str, str], config_file: Path | None) -> list[Path]:
    if config_file is not None:
        return [config_file]
    return [path for path in (SYSTEM_FILE, user_file(environment)) if path is not None and _is_there(path)]


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a home that this user may not enter (a service with another user's environment)
        return False


def user_file(environment: Mapping[str, str]) -> Path | None:
    """The user's own configuration; ``None`` for a user without a home."""
    if base := environment.get("XDG_CONFIG_HOME"):
        return Path(base) / "edge-asr" / "edge-asr.toml"
    if home := environment.get("HOME"):
        return Path(home) / ".config" / "edge-asr" / "edge-asr.toml"
    return None


def _complain_about_variable(name: str, known: Sequence[str]) -> None:
    """A variable that looks like a setting and is none is an error; others of that prefix are not our business."""
    tails = {variable.removeprefix(_PREFIX): variable for variable in known}
    tail = name.removeprefix(_PREFIX)
    close = difflib.get_close_matches(tail, list(tails), n=1, cutoff=0.75)
    names_group = any(tail.startswith(f"{group.upper()}_") for group in group_names())
    if close or names_group:
        hint = f"; did you mean {tails[close[0]]}?" if close else ""
        raise ConfigurationError(f"environment variable {name} is no setting{hint}")


def _blame(sentence: str, origins: Mapping[str, str]) -> str:
    """Who set the value that the sentence begins with."""
    match = re.match(r"[\w.]+", sentence)
    origin = origins.get(match.group().rstrip(".") if match else "", DEFAULT_ORIGIN)
    return "" if origin == DEFAULT_ORIGIN else f" (set by {origin})"
