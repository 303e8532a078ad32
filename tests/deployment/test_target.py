from __future__ import annotations

from edge_asr.deployment.target import debian_target, wheel_platforms


def test_a_release_has_its_own_python_and_c_library() -> None:
    bookworm, trixie = debian_target("bookworm", "aarch64"), debian_target("trixie", "aarch64")
    assert (bookworm.python, bookworm.glibc_minor) == ("3.11", 36)
    assert (trixie.python, trixie.glibc_minor) == ("3.13", 41)


def test_platforms_are_those_of_the_c_library_and_all_older_ones() -> None:
    assert wheel_platforms(19, "x86_64") == [
        "manylinux_2_19_x86_64",
        "manylinux_2_18_x86_64",
        "manylinux_2_17_x86_64",
        "manylinux2014_x86_64",
    ]


def test_pip_takes_nothing_that_would_have_to_be_compiled() -> None:
    options = debian_target("trixie", "aarch64").pip_options()
    assert "--only-binary=:all:" in options
    assert "--python-version=3.13" in options
    assert "--platform=manylinux_2_41_aarch64" in options


def test_markers_are_filled_in_for_the_board() -> None:
    from packaging.markers import Marker

    environment = debian_target("bookworm", "aarch64").marker_environment()
    assert Marker("python_version < '3.13' and platform_machine == 'aarch64'").evaluate(environment)
    assert not Marker("extra == 'mqtt'").evaluate(environment)
