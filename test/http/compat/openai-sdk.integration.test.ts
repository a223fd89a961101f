import { expect, test } from "bun:test";
import { dirname, join } from "node:path";
import { Type } from "@sinclair/typebox";
import { available, ffmpegPath, mediaToolPath, samplePath } from "../../../harness/checkout.ts";
import { defaultCacheRoot } from "../../../native/build.ts";
import { testPackages } from "../../../tools/development/test-packages.ts";
import { askPython, installPythonPackages, type PythonPackages } from "../../../tools/shared/python.ts";
import { CommandError } from "../../../tools/shared/run-command.ts";
import { answers, ClientStage } from "./client-stage.ts";
import { DISCONNECT_MILLISECONDS, jfk, untilNothingIsLeft } from "./support.ts";

/** Each script imports thousands of modules, at the same time as the others. */
const TIME_LIMIT = 180_000;

/** Returns the folder of a program's packages; null where they can't be installed. */
async function install(what: string, packages: PythonPackages): Promise<string | null> {
  if (!available(what, ffmpegPath, mediaToolPath, jfk, samplePath("sample.wav"))) return null;
  return await installPythonPackages(defaultCacheRoot(), packages).catch((error: unknown) => {
    if (!(error instanceof CommandError)) throw error;
    console.warn(`SKIPPED: ${what}; it cannot be installed: ${error.message}`);
    return null;
  });
}

const [sdk = null, langchain = null, litellm = null] = await Promise.all([
  install("tests with OpenAI's Python SDK", testPackages.openai),
  install("tests with langchain's parser", testPackages.langchain),
  install("tests with LiteLLM", testPackages.litellm),
]);

/** Runs a script with the packages of a folder. @returns the outcomes of its calls */
async function outcomesOf(stage: ClientStage, script: string, packages: string, environment = {}) {
  const path = join(import.meta.dir, script);
  const schema = Type.Record(Type.String(), Type.Unknown());
  const outcomes = await askPython(path, packages, stage.question, schema, environment);
  await untilNothingIsLeft(stage.server);
  return outcomes;
}

test.concurrent.if(sdk !== null)(
  "OpenAI's Python SDK reads every format, stream, list and error of the server, and repeats what is worth it",
  async () => {
    await using stage = new ClientStage();
    const outcomes = await outcomesOf(stage, "openai-sdk.py", sdk ?? "");
    const { text, usage, segments } = answers;
    expect(outcomes).toMatchObject({
      retried_503: { outcome: null, pauses: [10] },
      retried_429: { outcome: ["RateLimitError", 429, null, "rate_limit_exceeded"], pauses: [10] },
      json: { text, usage },
      text: `${text}\n`,
      srt: expect.stringContaining(answers.srt),
      vtt: expect.stringContaining(answers.vtt),
      verbose: {
        language: "english",
        duration: 32.25,
        text,
        words: answers.words,
      },
      diarized: { task: "transcribe", duration: 32.25, text, segments },
      logprobs: { text, logprobs: answers.logprobs },
      unknown_model: ["NotFoundError", 404, "model", "model_not_found"],
      wrong_key: ["AuthenticationError", 401, null, "invalid_api_key"],
      unknown_language: ["BadRequestError", 400, "language", null],
      no_recording: ["BadRequestError", 400, "file", null],
      empty_file: ["BadRequestError", 400, "file", null],
      failed: ["InternalServerError", 500, null, expect.any(String)],
      timeout: ["APITimeoutError"],
      models: ["whisper-1", "whisper-base"],
      model: "whisper-1",
    });
    expect([outcomes.stream, outcomes.stream_diarized]).toEqual([answers.stream, answers.diarizedStream]);
  },
  TIME_LIMIT,
);

test.concurrent.if(langchain !== null)(
  "langchain's parser makes a document of each recording in every format, with its hints",
  async () => {
    const sample = samplePath("sample.wav");
    await using stage = new ClientStage(sample);
    // The parser reads WAV files itself, and converts them with the ffmpeg of the search path.
    const path = `${dirname(mediaToolPath)}:${process.env.PATH}`;
    const documents = await outcomesOf(stage, "langchain.py", langchain ?? "", { PATH: path });
    expect(stage.hints).toEqual([["Grünwald", "de"]]);

    const one = (text: unknown) => [{ text, source: sample, chunk: 0 }];
    expect(documents).toEqual({
      plain: one("Good day. Hello! Bye."),
      hints: one("Good day. Hello! Bye."),
      srt: one(expect.stringContaining(answers.srt)),
      verbose: one("Good day. Hello! Bye."),
    });
  },
  TIME_LIMIT,
);

test.concurrent.if(litellm !== null)(
  "LiteLLM reads every format, stream and error of the server, repeats what is worth it, and finds the server healthy",
  async () => {
    await using stage = new ClientStage();
    const { later, ...outcomes } = await outcomesOf(stage, "litellm-sdk.py", litellm ?? "");
    const { text, usage, segments } = answers;
    const json = { text, usage };
    const verbose = expect.objectContaining({
      ...{ text, usage, task: "transcribe", language: "english", duration: 32.25 },
      segments: expect.any(Array),
    });
    const languages = [{ code: "en" }];
    expect(outcomes).toEqual({
      retried_503: { outcome: null, pauses: [10] },
      retried_429: { outcome: ["RateLimitError", 429], pauses: [10] },
      default: verbose,
      json,
      text: { text: `${text}\n` },
      srt: { text: expect.stringContaining(answers.srt) },
      vtt: { text: expect.stringContaining(answers.vtt) },
      words: expect.objectContaining({ text, words: answers.words.map((word) => expect.objectContaining(word)) }),
      gpt: json,
      diarized: { text, usage, task: "transcribe", duration: 32.25, segments },
      languages: { text, usage, languages },
      stream: [...answers.stream.slice(0, -1), { ...answers.stream.at(-1), languages }],
      opened_file: verbose,
      silence: expect.objectContaining({ text: "", language: "unknown", segments: [] }),
      custom_provider: verbose,
      failed: ["InternalServerError", 500],
      wrong_key: ["AuthenticationError", 401],
      unknown_model: ["NotFoundError", 404],
      unknown_language: ["BadRequestError", 400],
      no_recording: ["BadRequestError", 400],
      empty_file: ["BadRequestError", 400],
      large_file: [expect.any(String), 413],
      timeout: ["APITimeoutError", null],
    });
    expect(later).toEqual({
      json,
      default: verbose,
      srt: { text: expect.stringContaining(answers.srt) },
      wrong_key: ["AuthenticationError", 401],
      large_file: [expect.any(String), 413],
      cancelled: expect.any(Number),
      health_check: verbose,
    });
    expect(Object(later).cancelled).toBeLessThan(DISCONNECT_MILLISECONDS / 1000);
    expect(stage.hints).toEqual([
      ["Grünwald", "de"],
      ["Leverrier", "en"],
      ["silence", null],
      ["fail", null],
    ]);
  },
  TIME_LIMIT,
);
