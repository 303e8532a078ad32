from pathlib import Path

import pytest

from edge_asr.bench.document import ProductTime
from edge_asr.cli.quantize_times import board_times
from edge_asr.quantize.choices import Choice
from edge_asr.quantize.costs import MeasuredProduct
from tests.cli.conftest import Run


def product(operator: str, least_ms: float = 1.5, outputs: int = 64) -> ProductTime:
    return ProductTime(
        graph="encoder", operator=operator, rows=16, inputs=32, outputs=outputs, calls=2, least_ms=least_ms
    )


@pytest.mark.parametrize(
    ("operator", "precision", "choice"),
    [
        ("MatMul", "fp32", "fp32"),
        ("DynamicQuantizeMatMul", "int8", "int8"),
        ("MatMulNBits", "int8", "weight8"),
        ("MatMulNBits", "int4", "weight4"),
    ],
)
def test_operators_are_forms_of_products(operator: str, precision: str, choice: Choice):
    assert list(board_times([product(operator)], precision)) == [MeasuredProduct(choice, (16, 32, 64), 0.0015)]


def test_blocks_of_a_mixed_model_do_not_say_how_many_bits_they_have():
    assert list(board_times([product("MatMulNBits")], "mixed")) == []


def test_quantizing_the_input_belongs_to_the_integer_product():
    given = [product("DynamicQuantizeLinear", 0.5, outputs=32), product("MatMulIntegerToFloat")]
    assert list(board_times(given, "int8")) == [MeasuredProduct("int8", (16, 32, 64), 0.002)]


def test_a_file_that_is_no_bench_is_refused(run: Run, tmp_path: Path):
    (tmp_path / "b.json").write_text("{}")
    ran = run("quantize", "starter-en-fp32", "-o", tmp_path / "out", "--board-times", tmp_path / "b.json")
    assert ran.status == 3
    assert "not a bench document" in ran.err
