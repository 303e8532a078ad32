from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import edge_asr
from edge_asr.workers.command import worker_command, worker_environment

HOME = str(Path(edge_asr.__file__).parent.parent)


def test_cores_are_given_in_order():
    command = worker_command(5, 6, {3, 2}, "a:b")
    assert command[command.index("--cpus") + 1] == "2,3"
    assert command[command.index("--fd") + 1] == "5"
    assert command[command.index("--black-box") + 1] == "6"


def test_without_cores_nothing_is_pinned():
    assert "--cpus" not in worker_command(5, 6, ())


def test_thread_pools_and_arenas_are_bounded_before_the_first_import():
    environment = worker_environment({"HOME": "/root", "OPENBLAS_NUM_THREADS": "8"}, malloc_arenas=2)
    assert environment["OPENBLAS_NUM_THREADS"] == "1"
    assert environment["MALLOC_ARENA_MAX"] == "2"
    assert environment["HOME"] == "/root"


def test_a_checkout_is_found_by_its_worker_once():
    environment = worker_environment({"PYTHONPATH": "/opt/other"}, malloc_arenas=1)
    assert environment["PYTHONPATH"].split(os.pathsep) == [HOME, "/opt/other"]
    assert worker_environment(environment, malloc_arenas=1)["PYTHONPATH"] == environment["PYTHONPATH"]


def test_files_in_the_current_directory_are_not_imported(tmp_path):
    (tmp_path / "msgspec.py").write_text("raise SystemExit('imported from the current directory')")
    command = worker_command(5, 6, (), "a:b")
    ran = subprocess.run(
        [*command[: command.index("--fd")], "--help"],
        cwd=tmp_path,
        env=worker_environment({}, malloc_arenas=1),
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    assert "A worker of the edge-asr daemon" in ran.stdout


def test_the_worker_imports_nothing_heavy_before_it_is_pinned():
    script = "import sys, edge_asr.workers.child; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script], cwd=HOME, capture_output=True, text=True, check=True)
    assert not {"numpy", "sherpa_onnx", "soundfile", "soxr", "asyncio"} & set(ran.stdout.split())


def test_the_front_does_without_numpy():
    script = "import sys, edge_asr.workers.pool; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script], cwd=HOME, capture_output=True, text=True, check=True)
    assert not {"numpy", "sherpa_onnx", "soundfile", "soxr"} & set(ran.stdout.split())
