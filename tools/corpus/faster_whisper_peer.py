"""Transcribes recordings one after another with faster-whisper on the CPU, with the weights of our default model.

JSON on standard input: {"beam", "threads", "batch": int, "compute_type", "task": string, "language": string or null,
"files": [path…]}; with a batch of 0, windows are computed one after another.
JSON on standard output: {"seconds", "cpu_seconds": after the model was loaded, "peak_bytes",
"answers": [{"text": string, "language": string}…]}
"""

import json
import re
import sys
import tempfile
import time
from pathlib import Path

import faster_whisper
from base_weights import write_model


def peak_bytes() -> int:
    found = re.search(r"^VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(found.group(1)) * 1024 if found else 0


question = json.load(sys.stdin)
with tempfile.TemporaryDirectory() as folder:
    write_model(Path(folder))
    model = faster_whisper.WhisperModel(
        folder, device="cpu", compute_type=question["compute_type"], cpu_threads=question["threads"]
    )
options = {"beam_size": question["beam"], "task": question["task"], "language": question["language"]}
if question["batch"] > 0:
    reader = faster_whisper.BatchedInferencePipeline(model)
    options["batch_size"] = question["batch"]
else:
    reader = model

answers = []
started, cpu_started = time.perf_counter(), time.process_time()
for path in question["files"]:
    segments, info = reader.transcribe(path, **options)
    answers.append({"text": "".join(segment.text for segment in segments), "language": info.language})
figures = {
    "seconds": time.perf_counter() - started,
    "cpu_seconds": time.process_time() - cpu_started,
    "peak_bytes": peak_bytes(),
}
json.dump({**figures, "answers": answers}, sys.stdout)
