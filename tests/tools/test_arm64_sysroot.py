from __future__ import annotations

from tools.arm64_sysroot import Source, debian_sources, glibc_minor, requirements

PYPROJECT = """
[project]
dependencies = ["click>=8.1", "sherpa-onnx==2.0.1"]

[project.optional-dependencies]
test = ["mypy==2.4.1", "pytest>=8", "pytest-asyncio>=0.23", "ruff==0.17.6"]
"""


def test_dependencies_and_what_runs_the_tests_are_required_but_not_what_only_reads_code():
    assert requirements(PYPROJECT) == ["click>=8.1", "sherpa-onnx==2.0.1", "pytest>=8", "pytest-asyncio>=0.23"]


def test_the_glibc_is_that_of_the_package_file():
    assert glibc_minor(["gcc-12-base_12.2.0_arm64.deb", "libc6_2.36-9+deb12u14_arm64.deb"]) == 36


def test_only_debians_own_sources_are_used_each_once():
    targets = (
        "Debian|http://deb.example/debian/|bookworm|main\n"
        "Debian|http://deb.example/debian/|bookworm|main\n"
        "Node Source|https://node.example|nodistro|main\n"
        "|https://silent.example|x|main\n"
    )
    assert debian_sources(targets) == [Source("http://deb.example/debian/", "bookworm", "main")]


def test_a_source_is_asked_for_arm64_packages_and_checked_by_debians_keys():
    line = Source("http://deb.example/debian/", "bookworm", "main").line()
    keys = "/usr/share/keyrings/debian-archive-keyring.gpg"
    assert line == f"deb [arch=arm64 signed-by={keys}] http://deb.example/debian/ bookworm main"
