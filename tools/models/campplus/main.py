"""Writes the files that turn the CAM++ checkpoint into an ONNX model: main.py CHECKPOINT OUTPUT-FOLDER"""

import sys
from pathlib import Path

from checkpoint import stored_floats
from network import campplus


def main(checkpoint: Path, output: Path) -> None:
    stored = stored_floats(checkpoint)
    content = checkpoint.read_bytes()
    model, known = campplus({name: each.read(content) for name, each in stored.items()})
    (output / "campplus.graph.onnx").write_bytes(model.SerializeToString(deterministic=True))
    constants = {tensor.name for tensor in model.graph.initializer}
    inputs = {name for node in model.graph.node for name in node.input}
    wanted = {name for name in inputs - constants if name.startswith(("head.", "xvector."))}
    if unused := stored.keys() - wanted - known:
        raise ValueError(f"the graph does not use {sorted(unused)}")
    # The JSON format of Biome, which checks the repository's files.
    lines = [
        f'  {{ "name": "{name}", "offset": {stored[name].offset}, "dims": {list(stored[name].dims)} }}'
        for name in sorted(wanted)
    ]
    (output / "campplus.tensors.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")


main(*map(Path, sys.argv[1:]))
