import xml.etree.ElementTree as ET

from edge_asr.quantize.document import Accuracy, ComponentRecord, Document, NodeRecord, Origin, Point, Speed
from edge_asr.quantize.report_html import render_html

ORIGIN = Origin(
    name="starter <b>",
    version="1",
    family="zipformer2-ctc",
    licence="Apache-2.0",
    directory="/models/starter",
    files={},
)
ORIGINAL = Point(
    name="float32",
    verdict="original",
    size_bytes=15 << 20,
    nodes={},
    accuracy=Accuracy(error_rate=0.05, substitutions=60, deletions=30, insertions=10, units=2000, recordings=400),
    speed=Speed(rtf_cpu=0.04, ratio=1.0),
)
INT8 = Point(
    name="int8",
    verdict="within",
    size_bytes=5 << 20,
    nodes={"int8": 94},
    accuracy=Accuracy(
        error_rate=0.051, substitutions=61, deletions=31, insertions=10, units=2000, recordings=400,
        difference=0.001, low=-0.002, high=0.004, disagreements=8,
    ),
    speed=Speed(rtf_cpu=0.03, ratio=0.75, low=0.74, high=0.76),
)  # fmt: skip


def document(**changes) -> Document:
    given = {"kept": "int8", "points": (ORIGINAL, INT8), "budget": 0.005, **changes}
    return Document(
        created="2026-11-30", command=("edge-asr", "quantize", "a b"), versions={}, processor="x", origin=ORIGIN,
        recipe="int8", target="pi5", why="dot product", seed=0, **given,
    )  # fmt: skip


def charts(page: str) -> list[ET.Element]:
    pieces = page.split("<svg")[1:]
    return [ET.fromstring("<svg" + piece.split("</svg>")[0] + "</svg>") for piece in pieces]


def test_the_kept_model_is_one_sentence():
    page = render_html(document())
    assert (
        "int8: 5.00 MiB of 15.00 MiB, WER 5.10 % (+0.10 (-0.20 to +0.40)), 0.75 × the original&#x27;s CPU time" in page
    )


def test_the_three_kinds_of_errors_stand_apart():
    page = render_html(document())
    assert "<td class='number'>61</td><td class='number'>31</td><td class='number'>10</td>" in page


def test_size_and_speed_are_drawn_against_errors_with_intervals():
    by_size, by_time = charts(render_html(document()))
    texts = [element.text or "" for element in by_size.iter() if element.tag.endswith("text")]
    assert "size of the graphs, MiB" in texts
    assert "budget, +0.5" in texts
    assert sum("interval" in element.get("class", "") for element in by_size.iter()) == 1
    assert "CPU s per audio s" in {element.text for element in by_time.iter()}


def test_the_most_sensitive_nodes_are_drawn():
    nodes = (
        NodeRecord(component="encoder", name="/a", operator="MatMul", weight_shape=(4, 8), choice="int8",
                   divergence={"int8": 0.001, "weight4": 0.02}),
    )  # fmt: skip
    *_, sensitivity = charts(render_html(document(nodes=nodes)))
    texts = [element.text or "" for element in sensitivity.iter() if element.tag.endswith("text")]
    assert any("encoder /a (4, 8)" in text for text in texts)
    assert "0.001 ← chosen" in texts


def test_no_model_is_an_alarm():
    page = render_html(document(kept="", points=(ORIGINAL,)))
    assert "role='alert'" in page
    assert "No model is within the budget of 0.5 percentage points" in page


def test_components_show_what_became_of_their_operators():
    record = ComponentRecord(
        role="encoder", original_bytes=2 << 20, bytes=1 << 20, nodes={"int8": 3},
        operators_before={"MatMul": 5, "Add": 2}, operators_after={"MatMul": 2, "MatMulInteger": 3, "Add": 2},
    )  # fmt: skip
    assert "MatMul 5 → 2, MatMulInteger 0 → 3</td>" in render_html(document(components=(record,)))


def test_names_from_outside_are_escaped():
    page = render_html(document())
    assert "starter &lt;b&gt;" in page
    assert "starter <b>" not in page


def test_a_processor_without_vnni_is_named():
    assert "no VNNI: decoded with exact 8-bit products" in render_html(document(has_vnni=False))
