"""Calls a server with LiteLLM, and writes the outcome of each call as JSON."""

import asyncio
import json
import os
import sys
import time
import urllib.request

# Otherwise LiteLLM fetches its list of prices when it is imported.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm
from litellm.litellm_core_utils.health_check_helpers import HealthCheckHelpers

question = json.load(sys.stdin)
litellm.suppress_debug_info = True
sound = open(question["file"], "rb").read()
target = {"api_base": question["base_url"], "api_key": question["key"], "max_retries": 0}


def control(name):
    return urllib.request.urlopen(f"{question['control_url']}/{name}").read()


def options(model="openai/whisper-1", **fields):
    return {"model": model, "file": ("talk.mp3", sound), **target, **fields}


def plain(answer):
    return answer if isinstance(answer, str) else answer.model_dump(exclude_none=True)


def transcribe(**fields):
    return plain(litellm.transcription(**options(**fields)))


async def transcribe_later(**fields):
    return plain(await litellm.atranscription(**options(**fields)))


def streamed(**fields):
    return [event.to_dict() for event in litellm.transcription(**options(**fields), stream=True)]


def described(error):
    return [type(error).__name__, getattr(error, "status_code", None)]


def refused(**fields):
    """Returns the class and the status of LiteLLM's exception."""
    try:
        transcribe(**fields)
    except Exception as error:
        return described(error)


async def refused_later(**fields):
    try:
        await transcribe_later(**fields)
    except Exception as error:
        return described(error)


def retried(**fields):
    """Returns the outcome of a call that the SDK below LiteLLM may repeat once, and the pauses that it made."""
    pauses = []
    sleep, time.sleep = time.sleep, pauses.append
    try:
        return {"outcome": refused(max_retries=1, **fields), "pauses": pauses}
    finally:
        time.sleep = sleep


async def cancelled():
    """Returns the seconds until nothing is left of a call that is cancelled while its recording waits."""
    call = asyncio.create_task(transcribe_later(prompt="wait"))
    await asyncio.to_thread(control, "waiting")
    since = time.monotonic()
    call.cancel()
    await asyncio.to_thread(control, "gone")
    return time.monotonic() - since


async def checked():
    """Makes the call by which LiteLLM's proxy checks a model of the mode audio_transcription."""
    parameters = {"model": "openai/whisper-1", **target}
    handlers = HealthCheckHelpers.get_mode_handlers(
        model="whisper-1", custom_llm_provider="openai", model_params=parameters
    )
    return plain(await handlers["audio_transcription"]())


async def later():
    """Returns the outcomes of asynchronous calls, which use another HTTP client."""
    return {
        "json": await transcribe_later(response_format="json"),
        "default": await transcribe_later(),
        "srt": await transcribe_later(response_format="srt"),
        "wrong_key": await refused_later(api_key="sk-wrong"),
        "large_file": await refused_later(file=("a.wav", bytes(question["upload_bytes"] + 1))),
        "cancelled": await cancelled(),
        "health_check": await checked(),
    }


control("refuse")
outcomes = {
    # The server refuses the next call with 503.
    "retried_503": retried(),
    "retried_429": retried(api_key=question["full_key"]),
    "default": transcribe(),
    "json": transcribe(response_format="json"),
    "text": transcribe(response_format="text"),
    "srt": transcribe(response_format="srt"),
    "vtt": transcribe(response_format="vtt"),
    "words": transcribe(
        language="de", prompt="Grünwald", temperature=0, timestamp_granularities=["word", "segment"]
    ),
    "gpt": transcribe(model="openai/gpt-4o-transcribe"),
    "diarized": transcribe(model="openai/gpt-4o-transcribe-diarize", response_format="diarized_json"),
    "languages": transcribe(model="openai/gpt-transcribe", languages=["en"], keywords=["Leverrier"]),
    "stream": streamed(model="openai/gpt-transcribe"),
    "opened_file": transcribe(file=open(question["file"], "rb")),
    "silence": transcribe(prompt="silence"),
    "custom_provider": transcribe(model="whisper-base", custom_llm_provider="openai"),
    "failed": refused(prompt="fail"),
    "wrong_key": refused(api_key="sk-wrong"),
    "unknown_model": refused(model="openai/parakeet-x"),
    "unknown_language": refused(language="klingon"),
    "no_recording": refused(file=("talk.mp3", b"no recording")),
    "empty_file": refused(file=("talk.mp3", b"")),
    "large_file": refused(file=("a.wav", bytes(question["upload_bytes"] + 1))),
    "timeout": refused(prompt="wait", timeout=1),
    "later": asyncio.run(later()),
}
json.dump(outcomes, sys.stdout)
