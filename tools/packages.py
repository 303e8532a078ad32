"""Every way of installing, for real: Debian packages and bundles in fresh systems, the container recipe in its root."""

from __future__ import annotations

import argparse
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NoReturn, get_args

from edge_asr.deployment.bundle import Contents, fill_bundle, write_bundle
from edge_asr.deployment.own_wheel import own_wheel
from edge_asr.deployment.target import Machine, Release
from tools.arm64_programs import CannotEmulate
from tools.arm64_sysroot import CHECKOUT
from tools.container_recipe import build_image
from tools.container_trial import try_image
from tools.debian_package import BUILD_PACKAGES, build, lay_out
from tools.debian_root import ARCHITECTURES, DebianRoot, Failed, arm64_programs, ensure_root, why_not
from tools.package_trial import try_bundle, try_package

RECIPE = CHECKOUT / "packaging/container/Containerfile"
STAGES = ("package", "bundle", "container")
FEWEST = ("trixie-amd64", "bookworm-arm64")
"""Both releases and both machines in two packages."""
PACKAGES: dict[str, tuple[Release, Machine]] = {
    f"{release}-{word}": (release, machine) for release in get_args(Release) for machine, word in ARCHITECTURES.items()
}
ROOM_MIB = 2000
"""Of each thing that is tried, with its systems: 1,767 MiB were the most that a package for amd64 took."""


@dataclass(frozen=True, slots=True)
class Workshop:
    """Where everything is made."""

    folder: Path
    systems: Path
    """Of the systems that everything begins from: those that build, and those with nothing in them yet."""
    wheel: Path
    output: Path | None
    """Where packages and bundle are kept, well compressed; ``None`` to try them only."""

    def builder(self, release: Release) -> DebianRoot:
        """A system that builds packages of a release, on this machine's processor."""
        return ensure_root(self.systems / f"builder-{release}", release, "x86_64", BUILD_PACKAGES)

    def base(self, release: Release, machine: Machine) -> DebianRoot:
        """A system with nothing in it yet, to be copied."""
        return ensure_root(self.systems / f"{release}-{ARCHITECTURES[machine]}", release, machine)

    def fresh_root(self, release: Release, machine: Machine, name: str) -> DebianRoot:
        """A copy to install something in."""
        base = self.base(release, machine)
        folder = self.folder / f"{base.folder.name}-{name}"
        subprocess.run(["cp", "--archive", "--reflink=auto", str(base.folder), str(folder)], check=True)
        return DebianRoot(folder, machine)

    def keep(self, file: Path) -> None:
        """What has been tried, for its users."""
        if self.output is not None:
            self.output.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, self.output)


def main() -> None:
    options = _parse()
    names = list(PACKAGES) if options.all else options.package or FEWEST
    stages = options.only or (("package",) if options.package else STAGES)
    packages = [PACKAGES[name] for name in names] if "package" in stages else []
    is_emulated = "bundle" in stages or any(machine != platform.machine() for _, machine in packages)
    tried = [f"package {name}" for name in names if packages] + [stage for stage in stages if stage != "package"]
    try:
        if reason := why_not(options.folder, ROOM_MIB * len(tried)):
            _leave(reason, is_required=not options.where_possible)
        with (
            arm64_programs() if is_emulated else nullcontext(),
            tempfile.TemporaryDirectory(dir=options.folder) as folder,
        ):
            made = Path(folder)
            systems = options.systems or made
            systems.mkdir(parents=True, exist_ok=True)
            _everything(Workshop(made, systems, own_wheel(made), options.output), packages, stages)
    except (CannotEmulate, Failed) as error:
        sys.exit(f"tools/packages: {error}")
    print(f"tools/packages: all is well with {', '.join(tried)}")


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tools/packages", description=__doc__)
    parser.add_argument("--only", action="append", choices=STAGES, help="this way of installing; may be repeated")
    parser.add_argument(
        "--package", action="append", choices=PACKAGES, help="only this Debian package; may be repeated"
    )
    parser.add_argument("--all", action="store_true", help="both Debian releases on both machines")
    parser.add_argument(
        "--where-possible", action="store_true", help="say why, and succeed, where no systems can be made"
    )
    parser.add_argument("--systems", type=Path, help="keep the fresh systems here, and use those that are here")
    parser.add_argument("-o", "--output", type=Path, help="keep the packages and a bundle in this folder")
    parser.add_argument("--folder", type=Path, default=Path("/var/tmp"), help="where systems are made; 2 GB a trial")  # noqa: S108 - an option
    return parser.parse_args()


def _leave(reason: str, *, is_required: bool) -> NoReturn:
    if is_required:
        sys.exit(f"tools/packages: {reason}")
    print(f"tools/packages: LEFT OUT, no package was built or installed: {reason}")
    sys.exit()


def _everything(shop: Workshop, packages: Sequence[tuple[Release, Machine]], stages: Sequence[str]) -> None:
    bases: dict[tuple[Release, Machine], None] = dict.fromkeys(packages)
    bases |= {("bookworm", "aarch64"): None} if "bundle" in stages else {}
    builders = [partial(shop.builder, release) for release in {release for release, _ in packages}]
    _side_by_side([*builders, *(partial(shop.base, *base) for base in bases)])
    tried: list[Callable[[], object]] = [partial(_package, shop, release, machine) for release, machine in packages]
    tried += [partial(_bundle, shop, "bookworm")] if "bundle" in stages else []
    tried += [partial(_container, shop)] if "container" in stages else []
    _side_by_side(tried)


def _side_by_side(works: Sequence[Callable[[], object]]) -> None:
    """Two at a time: half of each is waiting, for a disk or a mirror."""
    with ThreadPoolExecutor(2) as pool:
        for work in [pool.submit(work) for work in works]:
            work.result()


def _package(shop: Workshop, release: Release, machine: Machine) -> None:
    tree = shop.folder / f"package-{release}-{machine}" / "edge-asr"
    tree.mkdir(parents=True)
    lay_out(tree, shop.wheel, release, machine)
    package = build(shop.builder(release), tree, machine, is_trial=shop.output is None)
    print(f"{package.name}: {package.stat().st_size >> 20} MiB, and lintian has nothing to say", flush=True)
    try_package(shop.fresh_root(release, machine, "package"), package)
    shop.keep(package)


def _bundle(shop: Workshop, release: Release) -> None:
    archive = shop.folder / "bundle.tar"
    write_bundle(archive, Contents(shop.wheel, "aarch64", ["bookworm", "trixie"]))
    root = shop.fresh_root(release, "aarch64", "bundle")
    root.run("apt-get", "-qq", "update", has_network=True)
    root.run("apt-get", "-qq", "install", "--yes", "--no-install-recommends", "python3", has_network=True)
    try_bundle(root, archive)
    shop.keep(archive)


def _container(shop: Workshop) -> None:
    context = shop.folder / "context"
    fill_bundle(context, Contents(shop.wheel, "x86_64", ["trixie"]))
    try_image(build_image(RECIPE.read_text(), context, shop.folder / "container", "x86_64"))


if __name__ == "__main__":
    main()
