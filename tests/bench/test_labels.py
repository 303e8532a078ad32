from edge_asr.bench.labels import common_label, distinct_labels, headed_labels
from tests.bench.documents import configuration


def test_labels_hold_only_what_differs():
    labels = distinct_labels([configuration(threads=1, streams=4), configuration(threads=2, streams=4)])
    assert labels == ["1 thread", "2 threads"]


def test_a_field_shown_by_the_axis_is_left_out():
    both = [configuration(threads=1), configuration(threads=2, provider="xnnpack")]
    assert distinct_labels(both, frozenset({"threads"})) == ["cpu", "xnnpack"]


def test_a_single_configuration_keeps_its_whole_label():
    assert distinct_labels([configuration(threads=2)]) == ["starter-en · throughput · 2 threads"]


def test_what_all_share_is_said_once():
    assert common_label([configuration(threads=1), configuration(threads=2)]) == "starter-en · throughput"


def test_what_all_begin_with_becomes_a_heading():
    heading, labels = headed_labels([configuration(threads=2), configuration(threads=2, allow_spinning=True)])
    assert heading == "starter-en · throughput"
    assert labels == ["2 threads", "2 threads · spinning"]


def test_a_single_configuration_needs_no_heading():
    assert headed_labels([configuration()]) == ("", ["starter-en · throughput · 1 thread"])


def test_a_second_pass_stands_behind_its_model():
    alone, both = configuration(), configuration(second_pass="moonshine-tiny-en")
    assert both.label() == "starter-en, then moonshine-tiny-en · throughput · 1 thread"
    assert distinct_labels([alone, both]) == ["no second pass", "then moonshine-tiny-en"]
