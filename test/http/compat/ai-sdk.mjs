// Calls a server with the Vercel AI SDK, and writes the outcome of each call as JSON.

import { Buffer } from "node:buffer";
import { createOpenAI } from "@ai-sdk/openai";
import { experimental_transcribe, RetryError, transcribe as transcribeAudio } from "ai";
import { experimental_transcribe as formerTranscribe } from "former-ai";
import { createOpenAI as createFormerOpenAI } from "former-ai-sdk-openai";
import { control, pauses, question, sound } from "./question.mjs";

// Otherwise the SDK writes its warnings to standard output.
globalThis.AI_SDK_LOG_WARNINGS = false;

const providerWith = (apiKey) => createOpenAI({ baseURL: question.base_url, apiKey });
const provider = providerWith(question.key);
/** The versions before, which ask for `verbose_json` of every model. */
const former = {
  of: createFormerOpenAI({ baseURL: question.base_url, apiKey: question.key }),
  call: formerTranscribe,
};

/** Calls the SDK, and returns the properties of its result that a program reads. */
async function transcribe({ model = "whisper-1", of = provider, openai = {}, call = transcribeAudio, ...fields } = {}) {
  const { text, segments, words, language, durationInSeconds, providerMetadata, warnings } = await call({
    ...{ model: of.transcription(model), audio: sound, maxRetries: 0, providerOptions: { openai } },
    ...fields,
  });
  return { text, segments, words, language, durationInSeconds, providerMetadata, warnings };
}

/** Returns the class and the details of the SDK's error. */
async function refused(fields) {
  try {
    await transcribe(fields);
    return null;
  } catch (error) {
    const last = RetryError.isInstance(error) ? error.lastError : error;
    return {
      ...{ name: error.name, message: last.message, statusCode: last.statusCode ?? null },
      ...{ isRetryable: last.isRetryable ?? null, param: last.data?.error.param ?? null },
    };
  }
}

/** Returns the outcome of a call that the SDK may repeat twice, as it does by default, and the pauses that it made. */
async function retried(fields) {
  pauses.length = 0;
  const outcome = await refused({ maxRetries: undefined, ...fields });
  return { outcome, pauses: [...pauses] };
}

async function aborted() {
  const controller = new AbortController();
  const outcome = refused({ openai: { prompt: "wait" }, abortSignal: controller.signal });
  await control("waiting");
  const since = performance.now();
  controller.abort();
  await control("gone");
  return { outcome: await outcome, milliseconds: performance.now() - since };
}

await control("refuse");
const outcomes = {
  // One after the other, because the server refuses the next request with 503.
  retried_503: await retried({}),
  retried_429: await retried({ of: providerWith(question.full_key) }),
  aborted: await aborted(),
  timeout: await refused({ openai: { prompt: "wait" }, abortSignal: AbortSignal.timeout(500) }),
};

const hints = { language: "de", prompt: "Grünwald", temperature: 0.2 };
const calls = {
  plain: () => transcribe(),
  hints: () => transcribe({ openai: { ...hints, timestampGranularities: ["word", "segment"] } }),
  words: () => transcribe({ timestampGranularities: ["word"] }),
  json: () => transcribe({ model: "gpt-4o-transcribe", openai: { include: ["logprobs"] } }),
  languages: () => transcribe({ model: "gpt-transcribe", openai: { languages: ["en"], keywords: ["Leverrier"] } }),
  diarized: () => transcribe({ model: "gpt-4o-transcribe-diarize" }),
  diarized_verbose: () =>
    transcribe({ model: "gpt-4o-transcribe-diarize", openai: { responseFormat: "verbose_json" } }),
  chunked: () => transcribe({ openai: { chunkingStrategy: { type: "server_vad", silenceDurationMs: 300 } } }),
  silence: () => transcribe({ openai: { prompt: "silence" } }),
  base64: () => transcribe({ audio: sound.toString("base64") }),
  bytes: () => transcribe({ audio: new Uint8Array(sound).buffer }),
  former_name: () => transcribe({ call: experimental_transcribe }),
  former: () => transcribe({ ...former, openai: { ...hints, timestampGranularities: ["word"] } }),
  former_diarized: () => transcribe({ ...former, model: "gpt-4o-transcribe-diarize" }),
  former_silence: () => refused({ ...former, openai: { prompt: "silence" } }),
  former_wrong_model: () => refused({ ...former, model: "parakeet-x" }),
  failed: () => refused({ openai: { prompt: "fail" } }),
  wrong_key: () => refused({ of: providerWith("sk-wrong"), maxRetries: 2 }),
  unknown_model: () => refused({ model: "parakeet-x" }),
  unknown_language: () => refused({ openai: { language: "klingon" } }),
  no_recording: () => refused({ audio: Buffer.from("no recording") }),
  empty_file: () => refused({ audio: new Uint8Array() }),
  large_file: () => refused({ audio: Buffer.alloc(question.upload_bytes + 1) }),
};
for (const [name, call] of Object.entries(calls)) outcomes[name] = await call();

process.stdout.write(JSON.stringify(outcomes));
