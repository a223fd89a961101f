// Calls a server with OpenAI's SDK for Node, and writes the outcome of each call as JSON.

import { Buffer } from "node:buffer";
import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import OpenAI, { toFile } from "openai";
import { toStreamingFile } from "openai/uploads";
import { control, pauses, question, sound } from "./question.mjs";

const clientWith = (apiKey, options) => new OpenAI({ baseURL: question.base_url, apiKey, maxRetries: 0, ...options });
const client = clientWith(question.key);
const retrying = clientWith(question.key, { maxRetries: 1 });

const file = () => new File([sound], "talk.mp3", { type: "audio/mpeg" });
const stream = () => Readable.from([sound.subarray(0, 9999), sound.subarray(9999)]);

/** Calls the SDK. A file is made for each call, because a stream can be read once. */
const transcribe = async (fields = {}, { of = client, ...options } = {}) =>
  of.audio.transcriptions.create({ file: fields.file ?? file(), model: "whisper-1", ...fields }, options);

async function events(fields) {
  const received = [];
  for await (const event of await transcribe({ model: "gpt-4o-transcribe", stream: true, ...fields })) {
    received.push(event);
  }
  return received;
}

/** Returns the class and the details of the SDK's error. */
async function refused(call) {
  try {
    await call();
    return null;
  } catch (error) {
    return [error.constructor.name, error.status ?? null, error.param ?? null, error.code ?? null];
  }
}

/** Returns the outcome of a call that the SDK may repeat once, and the pauses that it made. */
async function retried(call) {
  pauses.length = 0;
  const outcome = await refused(call);
  return { outcome, pauses: [...pauses] };
}

/** Leaves while the recording waits. Returns the error, and the milliseconds until nothing was left. */
async function left(call, leave) {
  const outcome = refused(call);
  await control("waiting");
  const since = performance.now();
  await leave();
  await control("gone");
  return { outcome: await outcome, milliseconds: performance.now() - since };
}

async function aborted() {
  const controller = new AbortController();
  return await left(
    () => transcribe({ prompt: "wait" }, { signal: controller.signal }),
    () => controller.abort(),
  );
}

/** Stops the iteration of a stream before its first event. */
async function brokenOff() {
  const answer = await transcribe({ model: "gpt-4o-transcribe", stream: true, prompt: "wait" });
  return await left(
    async () => {
      for await (const _ of answer);
    },
    () => answer.controller.abort(),
  );
}

const files = {
  file,
  buffer: () => toFile(sound, "talk.mp3"),
  bytes_without_a_name: () => toFile(new Uint8Array(sound)),
  blob: () => toFile(new Blob([sound])),
  path: () => createReadStream(question.file),
  stream,
  named_stream: () => toStreamingFile(stream(), "talk.mp3", { type: "audio/mpeg" }),
  web_stream: () => Readable.toWeb(stream()),
  answer_of_fetch: () => fetch(`data:audio/mpeg;base64,${sound.toString("base64")}`),
};

const outcomes = {
  // One after the other, because the server refuses the next request with 503.
  retried_503: await (async () => {
    await control("refuse");
    return await retried(() => transcribe({}, { of: retrying }));
  })(),
  stream_503: await (async () => {
    await control("refuse");
    return await retried(() => transcribe({ file: stream() }, { of: retrying }));
  })(),
  retried_429: await retried(() => transcribe({}, { of: clientWith(question.full_key, { maxRetries: 1 }) })),
  stream_429: await retried(() =>
    transcribe({ file: stream() }, { of: clientWith(question.full_key, { maxRetries: 1 }) }),
  ),
  aborted: await aborted(),
  broken_off: await brokenOff(),
  timeout: await refused(() => transcribe({ prompt: "wait" }, { timeout: 500 })),
};

const calls = {
  json: () => transcribe(),
  text: () => transcribe({ response_format: "text" }),
  srt: () => transcribe({ response_format: "srt" }),
  vtt: () => transcribe({ response_format: "vtt" }),
  verbose: () => transcribe({ response_format: "verbose_json", timestamp_granularities: ["word", "segment"] }),
  diarized: () =>
    transcribe({
      ...{ model: "gpt-4o-transcribe-diarize", response_format: "diarized_json" },
      chunking_strategy: { type: "server_vad", threshold: 0.5 },
      ...{ known_speaker_names: ["Ada"], known_speaker_references: [`data:audio/wav;base64,${"A".repeat(400_000)}`] },
    }),
  logprobs: () => transcribe({ model: "gpt-4o-transcribe", include: ["logprobs"], temperature: 0.2, prompt: "" }),
  languages: () => transcribe({ model: "gpt-transcribe", languages: ["en"], keywords: ["Leverrier"], prompt: "Zau" }),
  silence: () => transcribe({ prompt: "silence" }),
  stream: () => events(),
  stream_of_a_stream: () => events({ file: stream() }),
  stream_languages: () => events({ model: "gpt-transcribe" }),
  stream_logprobs: () => events({ include: ["logprobs"] }),
  stream_diarized: () => events({ response_format: "diarized_json" }),
  stream_failed: () => refused(() => events({ prompt: "fail" })),
  stream_bad_file: () => refused(() => events({ file: new File(["no recording"], "talk.mp3") })),
  failed: () => refused(() => transcribe({ prompt: "fail" })),
  wrong_key: () => refused(() => transcribe({}, { of: clientWith("sk-wrong") })),
  wrong_key_stream: () => refused(() => transcribe({ file: stream() }, { of: clientWith("sk-wrong") })),
  unknown_model: () => refused(() => transcribe({ model: "parakeet-x" })),
  unknown_language: () => refused(() => transcribe({ language: "klingon" })),
  unknown_languages: () => refused(() => transcribe({ languages: ["en", "klingon"] })),
  stream_of_subtitles: () => refused(() => transcribe({ response_format: "srt", stream: true })),
  no_file: () => refused(() => client.audio.transcriptions.create({ model: "whisper-1" })),
  no_recording: () => refused(() => transcribe({ file: new File(["no recording"], "talk.mp3") })),
  empty_file: () => refused(() => transcribe({ file: new File([], "talk.mp3") })),
  large_file: () => refused(() => transcribe({ file: new File([Buffer.alloc(question.upload_bytes + 1)], "a.wav") })),
  large_stream: () =>
    refused(() =>
      transcribe({ file: Readable.from(Array.from({ length: 100 }, () => Buffer.alloc(question.upload_bytes / 50))) }),
    ),
  translation: () => client.audio.translations.create({ model: "whisper-1", file: file() }),
  models: async () => (await client.models.list()).data.map(({ id }) => id),
  model: async () => (await client.models.retrieve("whisper-1")).id,
  other_model: () => refused(() => client.models.retrieve("no/such")),
  files: async () => {
    const texts = [];
    for (const [kind, make] of Object.entries(files)) {
      texts.push([kind, (await transcribe({ file: await make() })).text]);
    }
    return Object.fromEntries(texts);
  },
};
for (const [name, call] of Object.entries(calls)) outcomes[name] = await call();

process.stdout.write(JSON.stringify(outcomes));
