"""Serves live transcription with another program on this machine's CPU, with the weights of our default model.

Arguments: JSON with {"program": "alignatt", "localagreement" or "whisper-live", "port": int, "language": string or null,
"model": path of our model file, "folder": path for the weights in other forms, "sample": path of a recording for warming
up}. Serves until it is killed.
"""

import json
import sys
from pathlib import Path

from base_weights import read_ggml, write_model

question = json.loads(sys.argv[1])
folder = Path(question["folder"])


def write_checkpoint(file: Path) -> None:
    """Writes the weights as OpenAI's checkpoint, which the decoder of WhisperLiveKit's own policy needs."""
    import torch

    shape, tensors = read_ggml(Path(question["model"]))
    state = {name: torch.from_numpy(tensor) for name, tensor in tensors.items()}
    torch.save({"dims": shape, "model_state_dict": state}, file)


def serve_whisper_live_kit(options: list[str]) -> None:
    sys.argv = [
        "whisperlivekit-server",
        *("--host", "127.0.0.1", "--port", str(question["port"]), "--pcm-input", "--model", "base"),
        *("--language", question["language"] or "auto", "--warmup-file", question["sample"], "--log-level", "WARNING"),
        *options,
    ]
    from whisperlivekit.basic_server import main

    main()


def serve_whisper_live() -> None:
    from whisper_live.server import TranscriptionServer

    TranscriptionServer().run(
        "127.0.0.1",
        question["port"],
        backend="faster_whisper",
        faster_whisper_custom_model_path=str(folder),
        single_model=True,
        raw_pcm_input=True,
    )


write_model(folder)
if question["program"] == "alignatt":
    from whisperlivekit.whisper import _ALIGNMENT_HEADS

    checkpoint = folder / "base.pt"
    write_checkpoint(checkpoint)
    heads = _ALIGNMENT_HEADS["base"].decode()
    encoder = ["--encoder-model-path", str(folder)]
    serve_whisper_live_kit(["--decoder-model-path", str(checkpoint), *encoder, "--custom-alignment-heads", heads])
elif question["program"] == "localagreement":
    policy = ["--backend-policy", "localagreement", "--backend", "faster-whisper"]
    serve_whisper_live_kit([*policy, "--model_dir", str(folder)])
else:
    serve_whisper_live()
