"""Measures the speed of transformers with random weights in the shape of Whisper large-v3-turbo.

Prints one JSON line: {"reason": ...} when nothing can be measured, otherwise the device and the versions. Then one line
for each measurement, at once, because the caller may end this process when its time is over.
"""

import argparse
import json
import sys
import time

WINDOW_SECONDS = 30
# <|startoftranscript|>, a language, <|transcribe|> and <|notimestamps|>; random weights do not know them.
PROMPT_TOKENS = 4
TURBO = {
    "vocab_size": 51866,
    "num_mel_bins": 128,
    "d_model": 1280,
    "encoder_layers": 32,
    "encoder_attention_heads": 20,
    "encoder_ffn_dim": 5120,
    "decoder_layers": 4,
    "decoder_attention_heads": 20,
    "decoder_ffn_dim": 5120,
    "max_source_positions": 1500,
    "max_target_positions": 448,
}
# For a trial on a CPU.
SMALL = {
    **TURBO,
    "num_mel_bins": 80,
    "d_model": 64,
    "encoder_layers": 2,
    "encoder_attention_heads": 2,
    "encoder_ffn_dim": 128,
    "decoder_layers": 2,
    "decoder_attention_heads": 2,
    "decoder_ffn_dim": 128,
}


def say(**fields):
    print(json.dumps(fields), flush=True)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--device", default="cuda")
    options.add_argument("--shape", choices=["turbo", "small"], default="turbo")
    options.add_argument("--batches", type=int, nargs="+", default=[1, 8, 32])
    options.add_argument("--beams", type=int, nargs="+", default=[1, 5])
    options.add_argument("--tokens", type=int, default=110)
    options.add_argument("--seconds", type=float, default=2)
    given = options.parse_args()
    try:
        import torch
        import transformers
    except Exception as error:
        return say(reason=f"torch and transformers cannot be loaded: {str(error).splitlines()[0]}")
    if given.device == "cuda" and not torch.cuda.is_available():
        return say(reason="torch finds no CUDA device")
    transformers.logging.set_verbosity_error()
    name = torch.cuda.get_device_name() if given.device == "cuda" else "CPU"
    say(device=name, torch=torch.__version__, transformers=transformers.__version__)
    model = open_model(torch, transformers, given)
    for batch in given.batches:
        for beams in given.beams:
            try:
                say(**measure(torch, transformers, model, given, batch, beams))
            except RuntimeError as error:
                say(batch=batch, beams=beams, reason=str(error).splitlines()[0])


def open_model(torch, transformers, given):
    sizes = TURBO if given.shape == "turbo" else SMALL
    config = transformers.WhisperConfig(**sizes)
    before = torch.get_default_dtype()
    # The CPU has no fast products in 16 bits.
    torch.set_default_dtype(torch.float16 if given.device == "cuda" else torch.float32)
    try:
        with torch.device(given.device):
            return transformers.WhisperForConditionalGeneration(config).eval()
    finally:
        torch.set_default_dtype(before)


def measure(torch, transformers, model, given, batch, beams):
    config = model.config
    shape = (batch, config.num_mel_bins, 2 * config.max_source_positions)
    spectrum = torch.randn(shape, device=given.device, dtype=model.dtype)
    prompt = torch.full((batch, PROMPT_TOKENS), config.decoder_start_token_id, device=given.device)

    def generate():
        # Not Whisper's own generate, which repeats windows at other temperatures.
        with torch.inference_mode():
            tokens = transformers.GenerationMixin.generate(
                model,
                input_features=spectrum,
                decoder_input_ids=prompt,
                min_new_tokens=given.tokens,
                max_new_tokens=given.tokens,
                num_beams=beams,
                do_sample=False,
            )
        if given.device == "cuda":
            torch.cuda.synchronize()
        return tokens.shape[1] - PROMPT_TOKENS

    # The first call allocates memory and chooses kernels.
    tokens = generate()
    started = time.perf_counter()
    calls = 0
    while calls == 0 or time.perf_counter() - started < given.seconds:
        generate()
        calls += 1
    seconds = (time.perf_counter() - started) / calls
    memory = torch.cuda.max_memory_allocated() if given.device == "cuda" else None
    figures = {"batch": batch, "beams": beams, "tokens": tokens, "seconds": seconds}
    return {**figures, "speed": batch * WINDOW_SECONDS / seconds, "bytes": memory}


if __name__ == "__main__":
    sys.exit(main())
