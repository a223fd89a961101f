"""Writes what CAM++ lacks to be an ONNX model: main.py CHECKPOINT OUTPUT-FOLDER"""

import sys
from pathlib import Path

from checkpoint import stored_floats
from network import campplus


def main(checkpoint: Path, output: Path) -> None:
    model = campplus()
    (output / "campplus.graph.onnx").write_bytes(model.SerializeToString(deterministic=True))
    stored = stored_floats(checkpoint)
    wanted = {name for node in model.graph.node for name in node.input if name.startswith(("head.", "xvector."))}
    if unused := stored.keys() - wanted:
        raise ValueError(f"the graph does not use {sorted(unused)}")
    # As Biome lays JSON out, which checks the repository's.
    lines = [
        f'  {{ "name": "{name}", "offset": {stored[name].offset}, "dims": {list(stored[name].dims)} }}'
        for name in sorted(wanted)
    ]
    (output / "campplus.tensors.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")


main(*map(Path, sys.argv[1:]))
