"""The software bill of materials of a release, as CycloneDX: edge-asr, what its wheel holds, and what it installs."""

from __future__ import annotations

import datetime as dt
import hashlib
import re
import uuid
import zipfile
from collections.abc import Iterable
from email.message import Message
from pathlib import Path

from cyclonedx.factory.license import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.utils import canonicalize_name

from edge_asr.deployment.wheelhouse import read_metadata

_NAMESPACE = uuid.UUID("6f6f9a55-5b1e-4d0b-9c2b-0f2f3a0d7b11")
"""Ours, so that the same release has the same serial number."""

_MODELS = re.compile(r"edge_asr/_models/[^/]+/.+\.(onnx|fst|model)")


def bill_of_materials(wheel: Path, dependencies: Iterable[Path], time: dt.datetime) -> str:
    """The document; the same whenever its arguments are.

    Args:
        wheel: edge-asr's own.
        dependencies: The wheels that are installed with it on one kind of board.
        time: Of the release.
    """
    own = _component(wheel, ComponentType.APPLICATION)
    installed = [_component(path) for path in sorted(dependencies)]
    bom = Bom(
        components=[*installed, *_models(wheel)],
        serial_number=uuid.uuid5(_NAMESPACE, _sha256(wheel.read_bytes())),
        metadata=BomMetaData(component=own, timestamp=time),
    )
    bom.register_dependency(own, bom.components)
    return str(JsonV1Dot6(bom).output_as_string(indent=2))


def _component(wheel: Path, kind: ComponentType = ComponentType.LIBRARY) -> Component:
    metadata = read_metadata(wheel)
    name, version = canonicalize_name(metadata["Name"]), metadata["Version"]
    licence = metadata["License-Expression"] or _first_line(metadata["License"]) or _classified(metadata)
    return Component(
        type=kind,
        name=name,
        version=version,
        bom_ref=f"{name}@{version}",
        description=metadata["Summary"],
        licenses=[LicenseFactory().make_from_string(licence)] if licence else [],
        purl=PackageURL("pypi", name=name, version=version),
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=_sha256(wheel.read_bytes()))],
    )


def _models(wheel: Path) -> Iterable[Component]:
    """Models inside the wheel, file by file: they decide what is heard, and somebody may have to prove which."""
    with zipfile.ZipFile(wheel) as archive:
        for name in sorted(filter(_MODELS.fullmatch, archive.namelist())):
            yield Component(
                type=ComponentType.MACHINE_LEARNING_MODEL,
                name=name.removeprefix("edge_asr/_models/"),
                bom_ref=name,
                hashes=[HashType(alg=HashAlgorithm.SHA_256, content=_sha256(archive.read(name)))],
            )


def _first_line(text: str | None) -> str:
    """Some packages put the whole text of their licence there."""
    lines = (text or "").strip().splitlines()
    return lines[0].strip() if lines else ""


def _classified(metadata: Message) -> str:
    prefix = "License :: OSI Approved :: "
    found = (line.removeprefix(prefix) for line in metadata.get_all("Classifier", []) if line.startswith(prefix))
    return next(found, "")


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
