from __future__ import annotations

import os

from edge_asr.resources.accounts import Account, read_account
from tests.boards import raspberry_pi_4, virtual_machine, write_tree


def test_the_user_of_a_raspberry_pi_is_in_the_group_audio(tmp_path):
    assert read_account(raspberry_pi_4(tmp_path)) == Account(
        name="pi", is_root=False, groups=frozenset({"audio", "pi"}), listed_groups=frozenset({"audio"})
    )


def test_a_group_given_after_the_login_is_listed_and_not_held(tmp_path):
    status = (
        tmp_path / "proc/self/status",
        "Name:\tx\nUid:\t1000\t1000\t1000\t1000\nGid:\t1000\t1000\t1000\t1000\nGroups:\t1000",
    )
    raspberry_pi_4(tmp_path)
    status[0].write_text(status[1])
    account = read_account(tmp_path)
    assert account is not None
    assert account.groups == {"pi"}
    assert account.listed_groups == {"audio"}


def test_root_is_known_by_number(tmp_path):
    write_tree(tmp_path, {"proc/self/status": "Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nGroups:\t"})
    account = read_account(tmp_path)
    assert account is not None
    assert account.is_root


def test_an_account_that_nobody_lists_has_no_name(tmp_path):
    account = read_account(virtual_machine(tmp_path))
    assert account is not None
    assert (account.name, account.groups) == ("", frozenset())


def test_a_machine_without_processes_has_no_account(tmp_path):
    assert read_account(tmp_path) is None


def test_this_process_is_read_from_the_real_kernel():
    account = read_account()
    assert account is not None
    assert account.is_root == (os.geteuid() == 0)
