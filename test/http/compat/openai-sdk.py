"""Calls a server with OpenAI's Python SDK, and writes the outcome of each call as JSON."""

import json
import sys
import time
import urllib.request

import openai

question = json.load(sys.stdin)
sound = open(question["file"], "rb").read()
pauses = []
time.sleep = pauses.append


def client_with(key, **options):
    return openai.OpenAI(base_url=question["base_url"], api_key=key, **options)


client = client_with(question["key"], max_retries=0)


def transcribe(of=client, **fields):
    """Returns what the SDK makes of an answer."""
    options = {"file": ("talk.mp3", sound), "model": "whisper-1", **fields}
    answer = of.audio.transcriptions.create(**options)
    return answer if isinstance(answer, str) else answer.to_dict()


def streamed(**fields):
    events = client.audio.transcriptions.create(
        file=("talk.mp3", sound), model="gpt-4o-transcribe", stream=True, **fields
    )
    return [event.to_dict() for event in events]


def refused(**fields):
    """Returns the class and the details of the SDK's exception."""
    try:
        transcribe(**fields)
    except openai.APIStatusError as error:
        return [type(error).__name__, error.status_code, error.param, error.code]
    except openai.APIError as error:
        return [type(error).__name__]


def retried(key):
    """Returns the outcome of a call that the SDK may repeat once, and the pauses that it made."""
    pauses.clear()
    of = client_with(key, max_retries=1)
    outcome = refused(of=of)
    return {"outcome": outcome, "pauses": list(pauses)}


urllib.request.urlopen(question["control_url"] + "/refuse").read()
outcomes = {
    # The server refuses the next call with 503.
    "retried_503": retried(question["key"]),
    "retried_429": retried(question["full_key"]),
    "json": transcribe(),
    "text": transcribe(response_format="text"),
    "srt": transcribe(response_format="srt"),
    "vtt": transcribe(response_format="vtt"),
    "verbose": transcribe(response_format="verbose_json", timestamp_granularities=["word", "segment"]),
    "diarized": transcribe(
        model="gpt-4o-transcribe-diarize", response_format="diarized_json", chunking_strategy="auto"
    ),
    "logprobs": transcribe(model="gpt-4o-transcribe", include=["logprobs"], temperature=0.2, prompt=""),
    "stream": streamed(),
    "stream_diarized": streamed(response_format="diarized_json"),
    "unknown_model": refused(model="parakeet-x"),
    "wrong_key": refused(of=client_with("sk-wrong", max_retries=0)),
    "unknown_language": refused(language="fil-klingon"),
    "no_recording": refused(file=("talk.mp3", b"no recording")),
    "empty_file": refused(file=("talk.mp3", b"")),
    "failed": refused(prompt="fail"),
    "timeout": refused(of=client.with_options(timeout=1.0), prompt="wait"),
    "models": [model.id for model in client.models.list()],
    "model": client.models.retrieve("whisper-1").id,
}
json.dump(outcomes, sys.stdout)
