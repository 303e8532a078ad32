"""The models edge-asr knows by name: one manifest each, shipped with the package.

``NAME.toml`` is a model that can be fetched; ``NAME/manifest.toml`` is one whose files are bundled beside it. In an
installed wheel they lie in ``edge_asr/_models``, in a checkout in ``models``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from edge_asr.manifest import MANIFEST_FILE, ModelManifest, read_manifest


def catalogue_directory() -> Path:
    """Where the shipped manifests lie."""
    package = Path(__file__).resolve().parent.parent
    in_wheel = package / "_models"
    return in_wheel if in_wheel.is_dir() else package.parent / "models"


def read_catalogue(directory: Path) -> Mapping[str, ModelManifest]:
    """Every shipped manifest of a model that can be fetched, by name, in order of names.

    Raises:
        ModelDamaged: A manifest is wrong.
    """
    manifests = (read_manifest(path) for path in sorted(directory.glob("*.toml")))
    return {manifest.name: manifest for manifest in manifests}


def bundled_directories(directory: Path) -> list[Path]:
    """Directories of the models whose files are bundled."""
    return sorted(path.parent for path in directory.glob(f"*/{MANIFEST_FILE}"))
