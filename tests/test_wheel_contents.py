"""What goes into the wheel besides the package."""

from __future__ import annotations

import tomllib
from pathlib import Path

from edge_asr.settings import WakeSettings

ROOT = Path(__file__).resolve().parent.parent


def test_the_wheel_holds_every_manifest_the_bundled_model_and_its_twin_only() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    manifests = {f"models/{path.name}" for path in (ROOT / "models").glob("*.toml")}

    assert included.pop("packaging/systemd") == "edge_asr/_systemd"
    assert set(included) == {"models/starter-en", f"models/{WakeSettings().model}", *manifests}
    assert all(target == f"edge_asr/_{source}" for source, target in included.items())
