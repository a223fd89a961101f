"""Transcribes a WAV file with the package wyoming, in the ways in which its users do.

Reads {"host", "port", "recording"} from standard input, and writes the outcome of each way to standard output.
"""

import asyncio
import json
import sys
import wave

from wyoming.asr import Transcribe, Transcript, TranscriptChunk, TranscriptStart, TranscriptStop
from wyoming.audio import wav_to_chunks
from wyoming.client import AsyncTcpClient
from wyoming.error import Error
from wyoming.info import Describe, Info
from wyoming.ping import Ping, Pong

question = json.load(sys.stdin)
# Home Assistant's satellites send chunks of this length.
SAMPLES = 1024


def client():
    return AsyncTcpClient(question["host"], question["port"], connect_timeout=30, read_timeout=120)


def sound(seconds_per_chunk=None):
    with wave.open(question["recording"], "rb") as wav:
        samples = SAMPLES if seconds_per_chunk is None else int(seconds_per_chunk * wav.getframerate())
        yield from wav_to_chunks(wav, samples, start_event=True, stop_event=True)


async def describe():
    async with client() as connection:
        await connection.write_event(Ping(text="hello").event())
        pong = Pong.from_event(await connection.read_event())
        await connection.write_event(Describe().event())
        info = Info.from_event(await connection.read_event())
        program = info.asr[0]
        return {
            "pong": pong.text,
            "program": program.name,
            "streams": program.supports_transcript_streaming,
            "needs_vad": program.requires_external_vad,
            "models": [[model.name, model.languages, model.installed] for model in program.models],
        }


async def upload_then_read(language=None):
    """Reads only after all sound was sent, as older versions of Home Assistant."""
    async with client() as connection:
        await connection.write_event(Transcribe(language=language).event())
        for event in sound():
            await connection.write_event(event.event())
        while True:
            event = await connection.read_event()
            if event is None:
                return None
            if Transcript.is_type(event.type):
                transcript = Transcript.from_event(event)
                return [transcript.text, transcript.language]


async def stream():
    """Reads while sound is sent."""
    async with client() as connection:
        request = Transcribe(language="en", context={"conversation": "7"}, transcript_names=["Americans"])
        await connection.write_event(request.event())

        async def upload():
            for event in sound(0.1):
                await connection.write_event(event.event())
                # Words arrive while sound is sent.
                await asyncio.sleep(0)

        task = asyncio.create_task(upload())
        types, chunks, transcript = [], [], None
        while True:
            event = await connection.read_event()
            if event is None or Error.is_type(event.type):
                break
            if not types or types[-1] != event.type:
                types.append(event.type)
            if TranscriptStart.is_type(event.type):
                TranscriptStart.from_event(event)
            elif TranscriptChunk.is_type(event.type):
                chunks.append(TranscriptChunk.from_event(event).text)
            elif Transcript.is_type(event.type):
                transcript = Transcript.from_event(event)
            elif TranscriptStop.is_type(event.type):
                break
        await task
        return {
            "types": types,
            "chunks": len(chunks),
            "joins": transcript is not None and "".join(chunks) == transcript.text,
            "text": transcript and transcript.text,
            "language": transcript and transcript.language,
            "context": transcript and transcript.context,
        }


async def refused():
    async with client() as connection:
        await connection.write_event(Transcribe(language="tlh").event())
        error = Error.from_event(await connection.read_event())
        return [error.code, await connection.read_event() is None]


async def main():
    outcomes = {}
    for way in [describe, upload_then_read, stream, refused]:
        outcomes[way.__name__] = await way()
    json.dump(outcomes, sys.stdout)


asyncio.run(main())
