"""Every way of installing, for real: Debian packages and bundles in fresh systems, the container recipe in its root."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from edge_asr.deployment.bundle import Contents, fill_bundle, write_bundle
from edge_asr.deployment.own_wheel import own_wheel
from edge_asr.deployment.target import Machine, Release
from tools.arm64_programs import CannotEmulate, ensure_program
from tools.arm64_sysroot import CHECKOUT
from tools.container_recipe import build_image
from tools.container_trial import try_image
from tools.debian_package import BUILD_PACKAGES, build, lay_out
from tools.debian_root import ARCHITECTURES, DebianRoot, Failed, arm64_programs, ensure_root, is_root
from tools.package_trial import try_bundle, try_package

RECIPE = CHECKOUT / "packaging/container/Containerfile"
PROGRAMS = {"mmdebstrap": "mmdebstrap", "arch-test": "arch-test", "bwrap": "bubblewrap"}
"""What this machine needs, and Debian's packages of it; the rest is in the roots."""

STAGES = ("package", "bundle", "container")
FEWEST: tuple[tuple[Release, Machine], ...] = (("trixie", "x86_64"), ("bookworm", "aarch64"))
"""Both releases and both machines in two packages."""
ALL: tuple[tuple[Release, Machine], ...] = (*FEWEST, ("bookworm", "x86_64"), ("trixie", "aarch64"))


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
    if not is_root():
        sys.exit("tools/packages: making systems is root's: run this with sudo")
    try:
        for program, package in PROGRAMS.items():
            ensure_program([program], package)
        with arm64_programs(), tempfile.TemporaryDirectory(dir=options.folder) as folder:
            made = Path(folder)
            systems = options.systems or made
            systems.mkdir(parents=True, exist_ok=True)
            shop = Workshop(made, systems, own_wheel(made), options.output)
            _everything(shop, ALL if options.all else FEWEST, options.only or STAGES)
    except (CannotEmulate, Failed) as error:
        sys.exit(f"tools/packages: {error}")


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tools/packages", description=__doc__)
    parser.add_argument("--all", action="store_true", help="both Debian releases on both machines")
    parser.add_argument("--only", action="append", choices=STAGES, help="this way of installing; may be repeated")
    parser.add_argument("--systems", type=Path, help="keep the fresh systems here, and use those that are here")
    parser.add_argument("-o", "--output", type=Path, help="keep the packages and a bundle in this folder")
    parser.add_argument("--folder", type=Path, default=Path("/var/tmp"), help="where systems are made; 8 GB")  # noqa: S108 - an option
    return parser.parse_args()


def _everything(shop: Workshop, packages: Sequence[tuple[Release, Machine]], stages: Sequence[str]) -> None:
    packages = packages if "package" in stages else ()
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
