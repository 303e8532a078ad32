from __future__ import annotations

import pytest

from edge_asr.store.digest_list import listed_digest

DIGEST = "0123456789abcdef" * 4
OTHER = "f" * 64


@pytest.mark.parametrize(
    "text",
    [
        f"a.tar.bz2\t{OTHER}\nmodel.tar.bz2\t{DIGEST}\n",
        f"{OTHER}  a.tar.bz2\n{DIGEST}  model.tar.bz2\n",
        f"{DIGEST} *model.tar.bz2\r\n",
        f"model.tar.bz2 {DIGEST.upper()}",
    ],
)
def test_a_digest_is_found_whichever_way_it_is_listed(text: str) -> None:
    assert listed_digest(text, "model.tar.bz2") == DIGEST


@pytest.mark.parametrize("text", ["", f"other {DIGEST}", "model.tar.bz2 0123", f"my-model.tar.bz2 {DIGEST}"])
def test_a_name_that_is_not_listed_has_none(text: str) -> None:
    assert listed_digest(text, "model.tar.bz2") == ""
