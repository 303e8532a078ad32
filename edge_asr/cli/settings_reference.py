"""The configuration file as a document: every setting with its default, its meaning and where its value came from.

The meaning is the docstring below the field in ``settings.py``, so that an option is described in one place only.
"""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from collections.abc import Iterator, Mapping

from edge_asr import settings as settings_module
from edge_asr.cli.configuration import KEYS, Configuration
from edge_asr.settings import Settings, group_names

_WIDTH = 100

_HEADING = """\
# edge-asr's configuration. Every setting stands here with its default; take away the "#" to change one.
# Read from /etc/edge-asr/edge-asr.toml, then $XDG_CONFIG_HOME/edge-asr/edge-asr.toml, or the file named by --config.
# EDGE_ASR_<TABLE>_<NAME> in the environment beats the file, options of the command line beat both.
"""


def default_document() -> str:
    """A file that changes nothing and explains everything."""
    documents = field_docstrings()
    groups = group_docstrings()
    lines = [_HEADING]
    group = ""
    for path, key in KEYS.items():
        if key.group != group:
            group = key.group
            lines += [*_comment(groups[group]), f"[{group}]"]
        lines += [*_comment(documents.get(path, "")), f"# {key.name} = {toml_value(key.default)}", ""]
    return "\n".join(lines)


def current_document(configuration: Configuration, *, with_origin: bool) -> str:
    """The settings in force as TOML; with ``with_origin`` each line says in a comment where its value came from."""
    lines: list[str] = []
    group = ""
    for path, key in KEYS.items():
        if key.group != group:
            group = key.group
            lines += ["", f"[{group}]"]
        line = f"{key.name} = {toml_value(configuration.value(path))}"
        lines.append(f"{line}  # {configuration.origins[path]}" if with_origin else line)
    return "\n".join(lines) + "\n"


def current_values(configuration: Configuration, *, with_origin: bool) -> dict[str, object]:
    """The settings in force by group, for JSON; with ``with_origin`` each as ``{"value", "origin"}``."""
    tree: dict[str, object] = {}
    groups: dict[str, dict[str, object]] = {}
    for path, key in KEYS.items():
        place = groups.setdefault(key.group, {}) if key.group else tree
        value = configuration.value(path)
        place[key.name] = {"value": value, "origin": configuration.origins[path]} if with_origin else value
    return tree | groups


def toml_value(value: object) -> str:
    """A value as TOML writes it."""
    # JSON's texts, numbers and lists of them are TOML too.
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)


def field_docstrings() -> dict[str, str]:
    """Key path to the text below the field."""
    classes = {entry.name: entry for entry in _classes()}
    texts = {name: text for name, text in _texts_below(classes[Settings.__name__]) if name not in group_names()}
    for group, class_name in _class_of_group().items():
        texts |= {f"{group}.{name}": text for name, text in _texts_below(classes[class_name])}
    return texts


def group_docstrings() -> dict[str, str]:
    """Group to the first sentence of its class."""
    documented = {entry.name: (ast.get_docstring(entry) or "").partition(". ")[0] for entry in _classes()}
    return {group: documented[class_name] for group, class_name in _class_of_group().items()}


def _class_of_group() -> Mapping[str, str]:
    return {name: str(Settings.__annotations__[name]) for name in group_names()}


def _classes() -> Iterator[ast.ClassDef]:
    module = ast.parse(inspect.getsource(settings_module))
    return (node for node in module.body if isinstance(node, ast.ClassDef))


def _texts_below(group: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, text in zip(group.body, group.body[1:], strict=False):
        if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
            continue
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant) and isinstance(text.value.value, str):
            yield field.target.id, text.value.value


def _comment(text: str) -> list[str]:
    plain = " ".join(text.replace("``", "").split())
    return [f"# {line}" for line in textwrap.wrap(plain, _WIDTH)]
