import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { available, ffmpegPath } from "../../../harness/checkout.ts";
import { defaultCacheRoot } from "../../../native/build.ts";
import { npmClients } from "../../../tools/development/test-packages.ts";
import { installNpmPackages } from "../../../tools/shared/npm.ts";
import { CommandError } from "../../../tools/shared/run-command.ts";
import { answers, ClientStage } from "./client-stage.ts";
import { askModule } from "./npm-packages.ts";
import { DISCONNECT_MILLISECONDS, jfk, untilNothingIsLeft } from "./support.ts";

// Each script imports many modules, at the same time as the others.
setDefaultTimeout(180_000);

const what = "tests with OpenAI's SDK for Node and the Vercel AI SDK";
const packages = available(what, ffmpegPath, jfk)
  ? await installNpmPackages(defaultCacheRoot(), npmClients).catch((error: unknown) => {
      if (!(error instanceof CommandError)) throw error;
      console.warn(`SKIPPED: ${what}; they cannot be installed: ${error.message}`);
      return null;
    })
  : null;
const programs = packages === null ? [] : [["Node", packages.node] as const, ["Bun", process.execPath] as const];

/** Runs a script with the packages. @returns the outcomes of its calls */
async function outcomesOf(stage: ClientStage, program: string, script: string) {
  if (packages === null) throw new Error("the packages are not installed");
  const schema = Type.Record(Type.String(), Type.Unknown());
  const outcomes = await askModule(
    program,
    { script: join(import.meta.dir, script), packages },
    stage.question,
    schema,
  );
  await untilNothingIsLeft(stage.server);
  return outcomes;
}

const { text, usage, segments } = answers;

describe.each(programs)("in %s", (_, program) => {
  test.concurrent("OpenAI's SDK reads every format, stream, list and error of the server, from each kind of file, and repeats what is worth it", async () => {
    await using stage = new ClientStage();
    const { aborted, broken_off, ...outcomes } = await outcomesOf(stage, program, "openai-node.mjs");
    const badFile = ["BadRequestError", 400, "file", null];
    const tooLarge = ["APIError", 413, "file", "file_too_large"];
    const languages = [{ code: "en" }];
    const files = ["file", "buffer", "bytes_without_a_name", "blob", "path", "stream", "named_stream", "web_stream"];
    expect(outcomes).toEqual({
      retried_503: { outcome: null, pauses: [10_000] },
      retried_429: { outcome: ["RateLimitError", 429, null, "rate_limit_exceeded"], pauses: [10_000] },
      // A stream can't be sent again.
      stream_503: { outcome: ["InternalServerError", 503, null, "service_unavailable"], pauses: [] },
      stream_429: { outcome: ["RateLimitError", 429, null, "rate_limit_exceeded"], pauses: [] },
      timeout: ["APIConnectionTimeoutError", null, null, null],
      json: { text, usage },
      text: `${text}\n`,
      srt: expect.stringContaining(answers.srt),
      vtt: expect.stringContaining(answers.vtt),
      verbose: expect.objectContaining({ language: "english", duration: 32.25, text, words: expect.any(Array) }),
      diarized: { task: "transcribe", duration: 32.25, text, segments, usage },
      logprobs: { text, logprobs: answers.logprobs.map((logprob) => expect.objectContaining(logprob)), usage },
      languages: { text, languages, usage },
      silence: { text: "", usage },
      stream: answers.stream,
      stream_of_a_stream: answers.stream,
      stream_languages: [...answers.stream.slice(0, -1), { ...answers.stream.at(-1), languages }],
      stream_logprobs: [...answers.stream.slice(0, -1), { ...answers.stream.at(-1), logprobs: expect.any(Array) }],
      stream_diarized: answers.diarizedStream,
      stream_failed: ["APIError", null, null, "internal_error"],
      stream_bad_file: badFile,
      failed: ["InternalServerError", 500, null, "internal_error"],
      wrong_key: ["AuthenticationError", 401, null, "invalid_api_key"],
      wrong_key_stream: ["AuthenticationError", 401, null, "invalid_api_key"],
      unknown_model: ["NotFoundError", 404, "model", "model_not_found"],
      unknown_language: ["BadRequestError", 400, "language", null],
      unknown_languages: ["BadRequestError", 400, "languages", null],
      stream_of_subtitles: ["BadRequestError", 400, "stream", null],
      no_file: badFile,
      no_recording: badFile,
      empty_file: badFile,
      large_file: tooLarge,
      large_stream: tooLarge,
      translation: { text, usage },
      models: ["whisper-1", "whisper-base"],
      model: "whisper-1",
      other_model: ["NotFoundError", 404, "model", "model_not_found"],
      files: Object.fromEntries([...files, "answer_of_fetch"].map((kind) => [kind, text])),
    });
    // The iteration of a stream that the program breaks off ends without an error.
    for (const [left, outcome] of [
      [aborted, ["APIUserAbortError", null, null, null]],
      [broken_off, null],
    ]) {
      expect(left).toEqual({ outcome, milliseconds: expect.any(Number) });
      expect(Object(left).milliseconds).toBeLessThan(DISCONNECT_MILLISECONDS);
    }
    expect(stage.hints).toEqual([
      ["Zau, Leverrier", "en"],
      ["silence", null],
      ["fail", null],
      ["fail", null],
    ]);
  });

  test.concurrent("the Vercel AI SDK makes text, segments, words and speakers of an answer, names each error, and repeats what is worth it", async () => {
    await using stage = new ClientStage();
    const { aborted, ...outcomes } = await outcomesOf(stage, program, "ai-sdk.mjs");
    const ofSegments = (texts: readonly string[]) =>
      segments.map(({ start, end }, index) => ({ text: texts[index], startSecond: start, endSecond: end }));
    const plain = {
      ...{ text, segments: ofSegments(["Good day.", " Hello!", " Bye."]), language: "en", durationInSeconds: 32.25 },
      ...{ providerMetadata: {}, warnings: [] },
    };
    const words = [
      ["Good", 0.5, 0.9],
      ["day.", 1, 1.4],
      ["Hello!", 2, 2.4],
      ["Bye.", 31, 31.4],
    ].map(([word, startSecond, endSecond]) => ({ text: word, startSecond, endSecond }));
    const { language: _language, ...withoutLanguage } = plain;
    const noSegments = { ...withoutLanguage, segments: [], durationInSeconds: 33 };
    const diarized = ofSegments(segments.map((segment) => segment.text));
    const speakers = segments.map(({ speaker }, index) => ({ ...diarized[index], speaker }));
    const error = (statusCode: number, message: RegExp, param: string | null = null, isRetryable = false) => ({
      ...{ name: "AI_APICallError", statusCode, message: expect.stringMatching(message), isRetryable, param },
    });
    expect(outcomes).toEqual({
      retried_503: { outcome: null, pauses: [10_000] },
      retried_429: {
        outcome: { ...error(429, /of this account/, null, true), name: "AI_RetryError" },
        pauses: [10_000, 10_000],
      },
      timeout: expect.objectContaining({ name: "TimeoutError" }),
      plain,
      hints: { ...plain, words },
      words: { ...plain, words },
      json: noSegments,
      languages: { ...noSegments, language: "en", providerMetadata: { openai: { languages: [{ code: "en" }] } } },
      diarized: {
        ...withoutLanguage,
        segments: diarized,
        providerMetadata: { openai: { segments: speakers } },
      },
      diarized_verbose: plain,
      chunked: plain,
      silence: { ...withoutLanguage, text: "", segments: [] },
      base64: plain,
      bytes: plain,
      former_name: plain,
      former: plain,
      former_diarized: plain,
      former_silence: expect.objectContaining({ name: "AI_NoTranscriptGeneratedError" }),
      former_wrong_model: error(404, /not installed/, "model"),
      failed: error(500, /wrong on our side/, null, true),
      wrong_key: error(401, /API key is not valid/),
      unknown_model: error(404, /not installed/, "model"),
      unknown_language: error(400, /language/, "language"),
      no_recording: error(400, /not an audio/, "file"),
      empty_file: error(400, /empty/, "file"),
      large_file: error(413, /larger than 2000000 bytes/, "file"),
    });
    expect(aborted).toEqual({
      outcome: expect.objectContaining({ name: "AbortError" }),
      milliseconds: expect.any(Number),
    });
    expect(Object(aborted).milliseconds).toBeLessThan(DISCONNECT_MILLISECONDS);
    expect(stage.hints).toEqual([
      ["Grünwald", "de"],
      ["Leverrier", "en"],
      ["silence", null],
      ["Grünwald", "de"],
      ["silence", null],
      ["fail", null],
    ]);
  });
});
