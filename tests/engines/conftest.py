from __future__ import annotations

import pytest

from edge_asr.engines.base import Engine
from tests.support.engine_cases import CASES, EngineCase

_loaded: dict[str, Engine] = {}


@pytest.fixture(params=CASES, ids=lambda case: case.name)
def case(request: pytest.FixtureRequest) -> EngineCase:
    """Every engine in turn."""
    assert isinstance(request.param, EngineCase)
    return request.param


@pytest.fixture
def engine(case: EngineCase) -> Engine:
    """The case's engine; loaded once a session, since only its streams hold state."""
    if case.name not in _loaded:
        _loaded[case.name] = case.load()
    return _loaded[case.name]
