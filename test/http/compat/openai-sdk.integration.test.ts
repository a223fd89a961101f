import { expect, test } from "bun:test";
import { dirname, join } from "node:path";
import { Type } from "@sinclair/typebox";
import { defaultCacheRoot } from "../../../native/build.ts";
import { askPython, installPythonPackages, type PythonPackages } from "../../../scripts/support/python.ts";
import { CommandError } from "../../../scripts/support/run-command.ts";
import { changeAccount } from "../../../src/accounts/index.ts";
import { available, ffmpegPath, samplePath } from "../../support/checkout.ts";
import { ApiServer } from "../support.ts";
import { end, jfk, untilNothingIsLeft } from "./support.ts";

/** Returns the folder of a program's packages; null where they can't be installed. */
async function install(what: string, wanted: Pick<PythonPackages, "name" | "packages" | "alone">) {
  if (!available(what, ffmpegPath, jfk, samplePath("sample.wav"))) return null;
  const constraints = join(import.meta.dir, `${wanted.name}-constraints.txt`);
  return await installPythonPackages(defaultCacheRoot(), {
    ...wanted,
    constraints,
    timeoutMilliseconds: 300_000,
  }).catch((error: unknown) => {
    if (!(error instanceof CommandError)) throw error;
    console.warn(`SKIPPED: ${what}; it cannot be installed: ${error.message}`);
    return null;
  });
}

const sdk = await install("tests with OpenAI's Python SDK", { name: "openai-sdk", packages: ["openai"] });
const parserPackages = (await Bun.file(join(import.meta.dir, "langchain-constraints.txt")).text()).match(
  /^[\w-]+(?===)/gm,
);
const langchain = await install("tests with langchain's parser", {
  ...{ name: "langchain", packages: parserPackages ?? [], alone: true },
});

/**
 * Ends each recording of a server as its prompt says, until the signal is aborted.
 * @returns the prompts
 */
async function endAll(server: ApiServer, signal: AbortSignal): Promise<(string | null)[]> {
  const prompts: (string | null)[] = [];
  for (let next = 0; !signal.aborted; await Bun.sleep(2)) {
    const id = server.queued[next];
    if (id === undefined) continue;
    next++;
    const prompt = server.recordings.get(id)?.prompt ?? null;
    prompts.push(prompt);
    if (prompt === "fail") end(server, id, { failure: { reason: "internal", cause: "engine_crashed" } });
    else if (prompt !== "wait") end(server, id);
  }
  return prompts;
}

test.if(sdk !== null)(
  "OpenAI's Python SDK reads every format, stream, list and error of the server, and repeats what is worth it",
  async () => {
    using server = new ApiServer({ recordingsPerAccount: 100 });
    const { key } = server.client("first");
    const full = server.client("full");
    changeAccount(server.store, server.account("full"), server.operator(), { limits: { recordings_per_account: 0 } });
    let checks = 0;
    Object.defineProperty(server, "trouble", { get: () => (checks++ === 0 ? "The server is stopping." : null) });
    const question = { base_url: `${server.origin}/v1`, key, full_key: full.key, file: jfk };
    const stop = new AbortController();
    const ended = endAll(server, stop.signal);
    const script = join(import.meta.dir, "openai-sdk.py");
    const outcomes = await askPython(script, sdk ?? "", question, Type.Record(Type.String(), Type.Unknown()));
    await untilNothingIsLeft(server);
    stop.abort();
    await ended;

    const text = "Good day. Hello! Bye.";
    const usage = { type: "duration", seconds: 33 };
    const segment = (index: number, from: number, to: number, speaker: string, said: string) => ({
      ...{ type: "transcript.text.segment", id: `seg_${index}`, start: from, end: to, speaker, text: said },
    });
    const segments = [
      segment(0, 0.5, 1.5, "A", "Good day."),
      segment(1, 2, 2.5, "B", "Hello!"),
      segment(2, 31, 32, "A", "Bye."),
    ];
    const deltas = ["Good day.", " Hello!", " Bye."].map((delta) => ({ type: "transcript.text.delta", delta }));
    const done = { type: "transcript.text.done", text };
    expect(outcomes).toMatchObject({
      retried_503: { outcome: null, pauses: [10] },
      retried_429: { outcome: ["RateLimitError", 429, null, "rate_limit_exceeded"], pauses: [10] },
      json: { text, usage },
      text: `${text}\n`,
      srt: expect.stringMatching(/^1\n00:00:00,500 --> 00:00:01,500\nGood day\.\n/),
      vtt: expect.stringMatching(/^WEBVTT\n\n00:00:00\.500 --> /),
      verbose: {
        language: "english",
        duration: 32.25,
        text,
        words: [{ word: "Good", start: 0.5, end: 0.9 }, {}, {}, {}],
      },
      diarized: { task: "transcribe", duration: 32.25, text, segments },
      logprobs: { text, logprobs: [{ token: " Good" }, {}, {}, {}] },
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
    expect(outcomes.stream).toEqual([...deltas, done]);
    expect(outcomes.stream_diarized).toEqual([
      deltas[0],
      segments[0],
      deltas[1],
      segments[1],
      deltas[2],
      segments[2],
      done,
    ]);
  },
  60_000,
);

test.if(langchain !== null)(
  "langchain's parser makes a document of each recording in every format, with its hints",
  async () => {
    const sample = samplePath("sample.wav");
    using server = new ApiServer({ recordingsPerAccount: 100 });
    const { key } = server.client("first");
    const stop = new AbortController();
    const ended = endAll(server, stop.signal);
    const question = { base_url: `${server.origin}/v1`, key, file: sample };
    const script = join(import.meta.dir, "langchain.py");
    // The parser reads WAV files itself, and converts them with the ffmpeg of the search path.
    const path = `${dirname(ffmpegPath)}:${process.env.PATH}`;
    const documents = await askPython(script, langchain ?? "", question, Type.Record(Type.String(), Type.Unknown()), {
      PATH: path,
    });
    await untilNothingIsLeft(server);
    stop.abort();
    expect(await ended).toEqual([null, "Grünwald", null, null]);

    const one = (text: unknown) => [{ text, source: sample, chunk: 0 }];
    expect(documents).toEqual({
      plain: one("Good day. Hello! Bye."),
      hints: one("Good day. Hello! Bye."),
      srt: one(expect.stringMatching(/^1\n00:00:00,500 --> 00:00:01,500\nGood day\.\n/)),
      verbose: one("Good day. Hello! Bye."),
    });
  },
  60_000,
);
