"""``edge-asr quantize``: a smaller and faster model, and the proof that it still hears."""

from __future__ import annotations

from pathlib import Path

import click

from edge_asr.cli.options import Invocation, common_options, pass_invocation
from edge_asr.cli.termination import ending_well


@click.command()
@click.argument("model", metavar="MODEL")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    metavar="DIR",
    help="Directory of the new model; made, or replaced if this command wrote it.",
)
@click.option(
    "--recipe",
    type=click.Choice(["int8", "int8-static", "weight8", "weight4", "fp16", "auto"]),
    default="auto",
    show_default=True,
    help="The same for every node, or the best for each.",
)
@click.option(
    "--calibration",
    type=click.Path(path_type=Path),
    metavar="AUDIO",
    help="Folder or manifest of recordings to calibrate with; without it a part of the evaluation set is set apart.",
)
@click.option(
    "--eval",
    "evaluation",
    type=click.Path(path_type=Path),
    metavar="MANIFEST",
    help="Recordings with their texts (TSV: audio, text; or JSONL) that every model is judged by.",
)
@click.option(
    "--max-wer-increase",
    "budget",
    metavar="POINTS",
    help="Percentage points that the word error rate may rise, such as 0.5%; over it the command leaves with 6.",
)
@click.option(
    "--target",
    type=click.Choice(["pi3", "pi4", "pi5", "rk3562", "rk3566", "rk3568", "rk3576", "rk3588", "generic-arm", "x86"]),
    help="The board it is for, or the NPU's chip; without it this machine, where speed can be measured.",
)
@click.option(
    "--board-times",
    type=click.Path(path_type=Path),
    metavar="BENCH.json",
    help="auto: what products took on the board, from `edge-asr bench --profile-ops --json` run there.",
)
@click.option(
    "--goal",
    type=click.Choice(["better", "smallest"]),
    default="better",
    show_default=True,
    help="auto: no more errors than the usual int8, or the smallest model within the budget.",
)
@click.option(
    "--algorithm",
    type=click.Choice(["rtn", "hqq", "k-quant", "gptq"]),
    default="rtn",
    show_default=True,
    help="How weight8 and weight4 find their integers.",
)
@click.option(
    "--quantize-decoder", is_flag=True, help="Also quantize a transducer's decoder, which is float32 otherwise."
)
@click.option("--continue", "is_continued", is_flag=True, help="Take a model that is quantized in parts, and go on.")
@click.option(
    "--format",
    "file_format",
    type=click.Choice(["onnx", "ort", "rknn", "qnn"]),
    default="onnx",
    show_default=True,
    help="ort is loaded faster, by the runtime version that made it; rknn and qnn are for NPUs (docs/npu.md).",
)
@click.option(
    "--toolkit",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="PYTHON",
    help="rknn: the interpreter of an environment that has rknn-toolkit2.",
)
@click.option(
    "--npu-options",
    metavar="LIST",
    default="",
    help="qnn: options of the provider, such as htp_arch=73,soc_model=43; without it what this machine simulates.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of everything that is drawn.")
@click.option(
    "--report",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the HTML report here too; it is in the model's directory anyway.",
)
@common_options
@pass_invocation
def quantize(
    invocation: Invocation,
    model: str,
    output: Path,
    recipe: str,
    calibration: Path | None,
    evaluation: Path | None,
    budget: str | None,
    target: str | None,
    board_times: Path | None,
    goal: str,
    algorithm: str,
    quantize_decoder: bool,
    is_continued: bool,
    file_format: str,
    toolkit: Path | None,
    npu_options: str,
    seed: int,
    report: Path | None,
) -> None:
    """Make a model smaller and faster within a word-error-rate budget.

    MODEL is a store name or a directory, float32. Made for a workstation: pip install 'edge-asr[quantize]'.

    \b
    Example:
      edge-asr quantize my-model -o my-model-int8 --recipe int8
      edge-asr quantize my-model -o my-model-pi5 --eval dev.tsv --max-wer-increase 0.5% --target pi5
      edge-asr quantize my-model -o my-model-npu --format rknn --target rk3588 --toolkit ~/rknn/bin/python
    """
    settings = invocation.configuration().settings
    if file_format in ("rknn", "qnn"):
        from edge_asr.cli.convert_job import NpuWishes, run_conversion

        npu = NpuWishes.checked(
            model=model,
            output=output,
            recipe=recipe,
            evaluation=evaluation,
            budget=budget,
            target=target,
            file_format=file_format,
            toolkit=toolkit,
            options=npu_options,
        )
        click.get_current_context().exit(run_conversion(npu))
    from edge_asr.cli.quantize_job import Wishes, run_job

    wishes = Wishes.checked(
        model=model,
        output=output,
        recipe=recipe,
        calibration=calibration,
        evaluation=evaluation,
        budget=budget,
        target=target,
        board_times=board_times,
        goal=goal,
        algorithm=algorithm,
        is_decoder_quantized=quantize_decoder,
        is_continued=is_continued,
        file_format=file_format,
        seed=seed,
        report=report,
    )
    with ending_well():
        status = run_job(wishes, settings)
    click.get_current_context().exit(status)
