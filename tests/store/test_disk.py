from __future__ import annotations

import errno
from pathlib import Path

import pytest

from edge_asr.errors import DiskFull
from edge_asr.store.disk import require_space, writing_to


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_named(number: int) -> None:
    sentence = "no space left in /models; free some, or set EDGE_ASR_HOME"
    with pytest.raises(DiskFull, match=sentence), writing_to(Path("/models"), is_store=True):
        raise OSError(number, "full")


def test_where_somebody_named_the_place_another_name_is_the_way_out() -> None:
    with pytest.raises(DiskFull, match="no space left in /out; free some, or name a place elsewhere"):  # noqa: SIM117
        with writing_to(Path("/out")):
            raise OSError(errno.ENOSPC, "full")


def test_other_errors_of_the_system_stay_what_they_are() -> None:
    with pytest.raises(PermissionError), writing_to(Path("/models")):
        raise PermissionError(errno.EACCES, "no")


def test_what_does_not_fit_is_refused_with_the_figures(tmp_path: Path) -> None:
    require_space(tmp_path, 1)
    with pytest.raises(DiskFull, match=r"1048576000000 MiB are needed and \d+ MiB are free"):
        require_space(tmp_path, 1_048_576_000_000 << 20)
