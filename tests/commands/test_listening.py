from __future__ import annotations

from edge_asr.commands.constraint import NetworkConstraint
from edge_asr.commands.listening import OPEN_SPEECH, ConstrainedListening, ExactListening
from edge_asr.commands.token_trie import build_trie
from edge_asr.engines.base import ConstrainedPath, Hypothesis, Token
from tests.commands.command_cases import LIGHTS, network, vocabulary

OPEN = (Token(" hi", 0.0, -0.1),)


def hypothesis(text: str, log_prob: float) -> Hypothesis:
    """The free text is "hi", the constraint's this one."""
    tokens = tuple(Token(f" {word}", float(place), log_prob / 9) for place, word in enumerate(text.split()))
    return Hypothesis("Hi.", OPEN, 16_000, path=ConstrainedPath(text, tokens, log_prob, -0.1))


def listening(min_score: float = 0.5) -> ConstrainedListening:
    lights = network(LIGHTS)
    return ConstrainedListening(lights, NetworkConstraint(lights, build_trie(vocabulary())), min_score)


def test_a_sentence_that_is_believed_is_shown_with_what_it_means():
    heard = listening().understand(hypothesis("turn on the kitchen light", -0.2))
    assert heard.hypothesis.text == "turn on the kitchen light"
    assert [token.text for token in heard.hypothesis.tokens] == [" turn", " on", " the", " kitchen", " light"]
    assert heard.command is not None
    assert (heard.command.intent, heard.command.slots) == ("TurnOn", {"lamp": "kitchen light"})
    assert 0.5 < heard.command.score <= 1
    assert heard.open_text == "Hi."


def test_one_that_is_not_believed_is_open_speech():
    heard = listening().understand(hypothesis("turn on the kitchen light", -60.0))
    assert (heard.hypothesis.text, heard.hypothesis.tokens, heard.command) == ("Hi.", OPEN, None)
    assert heard.open_text == "Hi."


def test_who_asks_for_certainty_gets_it():
    said = hypothesis("turn on the kitchen light", -0.2)
    assert listening(min_score=0.0).understand(said).command is not None
    assert listening(min_score=1.0).understand(said).command is None


def test_the_beginning_of_a_sentence_is_shown_and_is_no_command():
    heard = listening().understand(hypothesis("turn on the", -0.1))
    assert (heard.hypothesis.text, heard.command) == ("turn on the", None)


def test_without_a_path_there_is_open_speech():
    heard = listening().understand(Hypothesis("Hi.", OPEN, 16_000))
    assert (heard.hypothesis.text, heard.command, heard.open_text) == ("Hi.", None, "Hi.")


def test_where_nobody_listens_nothing_changes():
    said = hypothesis("turn on the kitchen light", -0.1)
    heard = OPEN_SPEECH.understand(said)
    assert heard.hypothesis is said
    assert (heard.command, heard.open_text, OPEN_SPEECH.constraint) == (None, None, None)


def test_an_engine_that_writes_sentences_only_is_believed():
    exact = ExactListening(network(LIGHTS))
    heard = exact.understand(Hypothesis("lamp two on", (), 16_000))
    assert heard.command is not None
    assert (heard.command.slots, heard.open_text) == ({"lamp": "lamp 2"}, None)
    assert exact.understand(Hypothesis("", (), 16_000)).command is None
