from __future__ import annotations

from edge_asr.commands.listening import Heard
from edge_asr.commands.nearest_listening import NearestListening
from edge_asr.commands.word_network import word_network
from edge_asr.engines.base import Hypothesis, Token
from edge_asr.events import Command
from tests.commands.command_cases import LIGHTS, network


def concluded(text: str, min_score: float = 0.5) -> Heard:
    lights = network(LIGHTS)
    listening = NearestListening(lights, word_network(lights), min_score)
    tokens = tuple(Token(f" {word}", float(place)) for place, word in enumerate(text.split()))
    return listening.conclude(listening.understand(Hypothesis(text, tokens, 16_000)))


def command(text: str) -> Command:
    found = concluded(text).command
    assert found is not None
    return found


def test_a_final_near_a_sentence_is_that_command():
    heard = concluded("turn on the chicken light")
    assert heard.command is not None
    assert (heard.command.intent, heard.command.slots) == ("TurnOn", {"lamp": "kitchen light"})
    assert 0.5 <= heard.command.score < command("turn on the kitchen light").score <= 1
    assert heard.hypothesis.text == "turn on the kitchen light"
    assert (heard.open_text, heard.hypothesis.raw_text) == ("turn on the chicken light", "turn on the chicken light")


def test_one_far_from_all_sentences_is_open_speech():
    heard = concluded("what a lovely day it is")
    assert (heard.command, heard.hypothesis.text) == (None, "what a lovely day it is")
    assert heard.open_text == "what a lovely day it is"


def test_numbers_and_wildcards_become_slots():
    assert command("dim the desklamp to fifty per cent").slots == {
        "lamp": "desk",
        "level": 50,
        "mode": "level",
    }
    assert command("add milk and honey to my shoping list").slots == {"item": "milk and honey"}


def test_who_asks_for_certainty_gets_it():
    assert concluded("turn on the chicken light", min_score=0.0).command is not None
    assert concluded("turn on the chicken light", min_score=1.0).command is None


def test_while_speech_goes_on_the_text_is_what_was_heard():
    lights = network(LIGHTS)
    listening = NearestListening(lights, word_network(lights), 0.5)
    said = Hypothesis("turn on the chicken", (), 16_000)
    assert listening.understand(said) == Heard(said, None, "turn on the chicken")


def test_silence_is_no_command():
    assert concluded("").command is None
