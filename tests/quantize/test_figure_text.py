from edge_asr.quantize.document import ComponentRecord
from edge_asr.quantize.figure_text import component_sentence


def test_a_component_says_what_became_of_its_size_nodes_and_operators():
    component = ComponentRecord(
        role="encoder",
        original_bytes=4 << 20,
        bytes=1 << 20,
        nodes={"weight4": 2, "int8": 7},
        operators_before={"MatMul": 9, "Add": 4},
        operators_after={"MatMulInteger": 7, "MatMulNBits": 2, "Add": 4},
    )
    assert component_sentence(component) == (
        "encoder: 4.00 MiB → 1.00 MiB, 7 int8, 2 weight4; MatMul 9 → 0, MatMulInteger 0 → 7, MatMulNBits 0 → 2"
    )


def test_a_component_that_was_left_alone_is_float32():
    component = ComponentRecord(
        role="decoder", original_bytes=1 << 20, bytes=1 << 20, nodes={}, operators_before={}, operators_after={}
    )
    assert component_sentence(component) == "decoder: 1.00 MiB → 1.00 MiB, float32"
