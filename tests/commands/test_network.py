from __future__ import annotations

import pytest

from edge_asr.commands import network as network_module
from edge_asr.commands.network import Call, Network, remove_dead_ends
from edge_asr.errors import ConfigurationError


def test_ways_that_lead_nowhere_are_taken_away():
    network = Network()
    language = network.parts[network.new_part()]
    empty = network.new_part()
    after, aside = network.new_node(), network.new_node()
    network.spell(language.start, "go", language.end)
    network.spell(language.start, "no", aside)
    network.calls[language.start].append(Call(empty, after))
    network.jump(after, language.end)
    remove_dead_ends(network)
    assert set(network.letters[language.start]) == {"g"}
    assert network.calls[language.start] == []


def test_texts_share_their_beginnings():
    network = Network()
    start = network.new_node()
    assert network.spell_shared(start, "lamp") == network.spell_shared(start, "lamp")
    network.spell_shared(start, "lane")
    assert len(network.letters) == 7


def test_too_many_nodes_are_refused(monkeypatch):
    monkeypatch.setattr(network_module, "MOST_NODES", 2)
    with pytest.raises(ConfigurationError, match="more than 2 nodes"):
        Network().spell(0, "long", 1)
