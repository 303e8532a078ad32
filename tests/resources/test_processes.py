from __future__ import annotations

import os
import signal
import subprocess

import pytest

from edge_asr.resources.processes import ProcessActivity, RunningProgram, read_activity, read_running_program
from tests.boards import write_tree
from tests.boards.tree import program


def test_a_program_has_a_name_and_the_words_it_was_started_with(tmp_path):
    write_tree(tmp_path, program(7, "/usr/bin/arecord", "-D", "hw:1,0"))
    assert read_running_program(7, tmp_path) == RunningProgram(7, "arecord", ("/usr/bin/arecord", "-D", "hw:1,0"))


def test_a_program_that_has_ended_is_none(tmp_path):
    assert read_running_program(7, tmp_path) is None


def test_a_kernel_thread_has_no_words(tmp_path):
    write_tree(tmp_path, {"proc/2/comm": "kthreadd", "proc/2/cmdline": ""})
    assert read_running_program(2, tmp_path) == RunningProgram(2, "kthreadd", ())


@pytest.mark.parametrize(
    "words",
    [
        ("/opt/edge-asr/bin/python3", "/opt/edge-asr/bin/edge-asr", "serve"),
        ("python3", "-P", "-m", "edge_asr", "serve"),
        ("python3", "-m", "edge_asr.workers.child", "--fd", "7"),
    ],
)
def test_we_are_known_however_we_were_started(words):
    assert RunningProgram(7, "python3", words).is_ours


@pytest.mark.parametrize(
    "words",
    [
        ("python3", "-m", "http.server", "8765"),
        ("/usr/bin/nginx", "-c", "/home/pi/edge-asr/nginx.conf"),
        ("/opt/edge-asr/bin/python3", "other.py"),
        (),
    ],
)
def test_others_are_not_taken_for_us_because_of_a_folder(words):
    assert not RunningProgram(7, "x", words).is_ours


def test_this_process_is_read_from_the_real_kernel():
    program = read_running_program(os.getpid())
    assert program is not None
    assert program.words


def thread(state: str, voluntary: int, involuntary: int) -> str:
    switches = f"voluntary_ctxt_switches:\t{voluntary}\nnonvoluntary_ctxt_switches:\t{involuntary}\n"
    return f"Name:\tx\nState:\t{state}\n{switches}"


def test_the_activity_of_a_process_is_that_of_its_threads(tmp_path):
    write_tree(
        tmp_path,
        {"proc/7/task/7/status": thread("S (sleeping)", 3, 1), "proc/7/task/8/status": thread("D (disk sleep)", 10, 0)},
    )
    assert read_activity(7, tmp_path) == ProcessActivity(frozenset("SD"), 14)


def test_activity_tells_the_processor_time_of_the_process_without_its_children(tmp_path):
    ticks = os.sysconf("SC_CLK_TCK")
    stat = f"7 (a b) R {'0 ' * 10}{3 * ticks} {ticks} 70 80 {'0 ' * 30}"
    write_tree(tmp_path, {"proc/7/task/7/status": thread("R (running)", 3, 1), "proc/7/stat": stat})
    assert read_activity(7, tmp_path) == ProcessActivity(frozenset("R"), 4, cpu_s=4.0)


def test_an_ended_process_has_no_activity(tmp_path):
    assert read_activity(7, tmp_path) is None


def test_a_process_that_is_stopped_can_be_told_from_one_that_sleeps():
    with subprocess.Popen(["sleep", "60"]) as process:
        os.kill(process.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED)
        activity = read_activity(process.pid)
        assert activity is not None
        assert activity.states == frozenset("T")
        process.kill()
