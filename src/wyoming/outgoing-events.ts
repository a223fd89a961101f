import { programVersion } from "../program/index.ts";
import type { OfferedModel, TranscribeRequest } from "./transcribe-request.ts";

/** Sends an event to the client. */
export type Send = (type: string, data: Readonly<Record<string, unknown>>) => void;

/** Encodes an event without a payload. The data is separate from the header, because some clients limit a line's length. */
export function encodeEvent(type: string, data: Readonly<Record<string, unknown>>): Buffer {
  const isEmpty = Object.keys(data).length === 0;
  const text = Buffer.from(isEmpty ? "" : JSON.stringify(data));
  const header = { type, version: PROTOCOL_VERSION, ...(isEmpty ? {} : { data_length: text.length }) };
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), text]);
}

/** Version of the package `wyoming` whose events these are. */
const PROTOCOL_VERSION = "1.10.2";

/** Name of the program, which Home Assistant shows. */
const NAME = "transcribe";

/** Sends a transcript, which also ends the stream of its chunks. */
export function sendTranscript(
  send: Send,
  text: string,
  language: string | null,
  { context }: TranscribeRequest,
): void {
  const ofClient = context === null ? {} : { context };
  send("transcript", { text, ...(language === null ? {} : { language }), ...ofClient });
  send("transcript-stop", {});
}

/** Returns the data of `info`: one program with the model in use. */
export function infoOf(model: OfferedModel): Readonly<Record<string, unknown>> {
  const program = {
    name: NAME,
    description: "Transcribe",
    attribution: { name: "Transcribe", url: "" },
    installed: true,
    version: programVersion,
    supports_transcript_streaming: true,
    // The client decides where an utterance ends.
    requires_external_vad: true,
    models: [
      {
        name: model.id,
        description: model.title,
        attribution: { name: model.title, url: model.homepage },
        installed: true,
        version: null,
        languages: model.languages,
      },
    ],
  };
  return { asr: [program], tts: [], handle: [], intent: [], wake: [], mic: [], snd: [] };
}
