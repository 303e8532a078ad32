"""What goes into the wheel besides the package."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_the_wheel_holds_every_manifest_and_the_bundled_model_only() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    manifests = {f"models/{path.name}" for path in (ROOT / "models").glob("*.toml")}

    assert included.pop("packaging/systemd") == "edge_asr/_systemd"
    assert set(included) == {"models/starter-en", *manifests}
    assert all(target == f"edge_asr/_{source}" for source, target in included.items())
