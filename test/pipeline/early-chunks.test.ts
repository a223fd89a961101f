import { afterEach, describe, expect, test } from "bun:test";
import { truncateSync, writeFileSync } from "node:fs";
import { Type } from "@sinclair/typebox";
import { BLOCK_SECONDS, blockCount } from "../../src/blocks/index.ts";
import { tables } from "../../src/database/index.ts";
import type { PipelineServices } from "../../src/pipeline/index.ts";
import type { StepEngine } from "../../src/pipeline/step.ts";
import { transcript } from "../../src/pipeline/transcript.ts";
import { SuspendError } from "../../src/queue/index.ts";
import { Checkpoints } from "../../src/recordings/index.ts";
import { type Chunk, SAMPLE_RATE } from "../../src/timeline/index.ts";
import { QuietPipeline } from "./services.ts";

/** The recognizer's lanes next to a GPU, lanes that all operations share, and a machine with none to spare. */
const GPU = { partsAtOnce: 6, recognizerLanes: 4 };
const MANY_LANES = { partsAtOnce: 5 };
const TWO_LANES = { partsAtOnce: 2 };

interface Params {
  readonly block?: number;
  readonly blocks?: number;
  readonly chunk?: Chunk;
  readonly language?: string;
}

/** A request of the engine: the operation, and what it is for. */
interface Request extends Params {
  readonly operation: string;
  /** Number of the chunk; -1 for other operations. */
  readonly of: number;
}

interface Script {
  readonly lanes?: Pick<StepEngine, "partsAtOnce" | "recognizerLanes">;
  readonly pinned?: string;
  readonly seconds?: number;
  /** Returns the language that is spoken in a chunk. */
  readonly spoken?: (chunk: number) => string;
  /** Runs before an operation ends. */
  readonly before?: (request: Request, signal: AbortSignal) => unknown;
  readonly signal?: AbortSignal;
}

const CHUNK_SECONDS = 30;

const made: QuietPipeline[] = [];
afterEach(() => {
  for (const pipeline of made.splice(0)) pipeline[Symbol.dispose]();
});

/** Transcribes a recording of consecutive chunks with scripted results, from its decoded audio. */
async function transcribed({ seconds = 430, pinned, ...script }: Script) {
  const { lanes = GPU, spoken = () => "en", before = () => {}, signal = new AbortController().signal } = script;
  const pipeline = new QuietPipeline(run);
  made.push(pipeline);
  const { store, recordings, dataDirectory } = pipeline;
  const id = pipeline.create({ pinnedLanguage: pinned ?? null });
  const recording = recordings.claim(id);
  if (recording === null) throw new Error("it is gone");
  const sampleCount = seconds * SAMPLE_RATE;
  const files = dataDirectory.filesOf(id);
  files.prepareWork();
  writeFileSync(files.pcm(0), "");
  truncateSync(files.pcm(0), sampleCount * 2);
  new Checkpoints(store, id).write("decode", 0, Type.Any(), { sampleCount });

  const chunks = Array.from({ length: Math.floor(seconds / CHUNK_SECONDS) }, (_, index): Chunk => {
    const span = { startSeconds: index * CHUNK_SECONDS, endSeconds: index * CHUNK_SECONDS + 29 };
    return { ...span, speech: [span] };
  });
  const requests: Request[] = [];
  async function run(operation: string, params: Params, own: AbortSignal, record?: Parameters<StepEngine["run"]>[3]) {
    const of = params.chunk === undefined ? -1 : Math.round(params.chunk.startSeconds / CHUNK_SECONDS);
    const request = { ...params, operation, of };
    requests.push(request);
    record?.onStart();
    await before(request, own);
    await Bun.sleep(0);
    own.throwIfAborted();
    if (operation === "planChunks") {
      const { blocks } = params;
      const isFinal = ({ endSeconds }: Chunk) => blocks === undefined || endSeconds < blocks * BLOCK_SECONDS - 5;
      return { chunks: chunks.filter(isFinal) };
    }
    if (operation === "detectLanguage") {
      const code = spoken(of);
      return { probabilities: code === "" ? { en: 0.6, de: 0.4 } : { [code]: 1 } };
    }
    if (operation === "transcribe" && params.chunk !== undefined) {
      const { startSeconds } = params.chunk;
      const times = { startSeconds, endSeconds: startSeconds + 20, probability: 0.9 };
      return {
        words: [{ text: ` chunk${of}${params.language}.`, ...times }],
        languages: { [params.language ?? ""]: 20 },
      };
    }
    return operation === "clusterSpeakers" ? { turns: [{ startSeconds: 0, endSeconds: seconds, speaker: 0 }] } : {};
  }
  const quiet = pipeline.services;
  const stored: number[] = [];
  quiet.events.onTranscribed(id, ({ part }) => void stored.push(part));
  const model = { id: "whisper-base", path: "base.bin" };
  const languages = ["de", "en"].map((code) => ({ code, name: code, modelCode: code }));
  const services: PipelineServices = {
    ...quiet,
    engine: { run, ...lanes } as unknown as StepEngine,
    models: {
      ...{ current: () => model, find: () => model, companionOf: () => null, routes: () => [] },
      languagesOf: () => languages,
      sha256Of: async () => "digest",
      admit: async () => {},
      encoderOf: async () => null,
      knownEncoderOf: async () => null,
    },
  };
  const segments = transcript(services, recording, signal);
  const rows = () =>
    store.select().from(tables.checkpoints).orderBy(tables.checkpoints.step, tables.checkpoints.part).all();
  const checkpoints = () =>
    rows()
      .filter(({ step }) => step !== "tries")
      .map(({ step, part, payload }) => ({ step, part, payload: payload.replaceAll(id, "ID") }));
  const tries = () => rows().flatMap(({ step, payload }) => (step === "tries" ? [JSON.parse(payload)] : []));
  return {
    ...{ segments, requests, checkpoints, tries, chunks: chunks.length, blocks: blockCount(sampleCount) },
    counted: () => recordings.rows.modelsOf(id),
    stored: () => stored.toSorted((a, b) => a - b),
  };
}

/** Returns the parts of all transcriptions that were requested, in order. */
function recognized(requests: readonly Request[]): number[] {
  return requests
    .filter(({ operation }) => operation === "transcribe")
    .map(({ of }) => of)
    .toSorted((a, b) => a - b);
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

/** Waits until the signal is aborted. @throws its reason */
async function hang(signal: AbortSignal): Promise<never> {
  const aborted = Promise.withResolvers<never>();
  signal.addEventListener("abort", () => aborted.reject(signal.reason));
  return await aborted.promise;
}

/**
 * Returns a script by which the detection of the last block waits for an early operation.
 * @param isAwaited returns whether an early transcription is the one
 */
function holdingLastBlock(
  isAwaited: (request: Request) => boolean,
  during: (request: Request, signal: AbortSignal) => unknown = () => {},
): NonNullable<Script["before"]> {
  const awaited = Promise.withResolvers<void>();
  return async (request, signal) => {
    const { operation, block } = request;
    if (operation === "transcribe" && isAwaited(request)) awaited.resolve();
    if (operation === "detectBlock" && block === 3) await awaited.promise;
    await during(request, signal);
  };
}

describe("the first chunks", () => {
  test.each([
    ["in the recognizer's lanes next to a GPU, with a pinned language", { lanes: GPU, pinned: "en" }],
    ["in the recognizer's lanes next to a GPU, in the language that they are surely in", { lanes: GPU }],
    ["in shared lanes that speech detection leaves unused", { lanes: MANY_LANES, pinned: "en" }],
  ])("are recognized before the last block is detected, %s, and only once", async (_, script) => {
    const made = await transcribed({ ...script, before: holdingLastBlock(({ of }) => of === 0) });
    await made.segments;
    expect(recognized(made.requests)).toEqual(numbers(made.chunks));
    expect(made.counted()).toEqual([{ model: "whisper-base", parts: made.chunks }]);
    expect(made.stored()).toEqual(numbers(made.chunks));
  });

  test("are recognized once if the step requests one that is still running", async () => {
    const later = Promise.withResolvers<void>();
    const made = await transcribed({
      pinned: "en",
      async before({ operation, of }) {
        if (operation !== "transcribe") return;
        if (of === 0) await later.promise;
        // Only the step knows the last chunk.
        if (of === 13) later.resolve();
      },
    });
    await made.segments;
    expect(recognized(made.requests)).toEqual(numbers(14));
  });

  test("are at most 64, however long speech detection takes", async () => {
    const early = Promise.withResolvers<void>();
    let count = 0;
    const made = await transcribed({
      ...{ pinned: "en", seconds: 24 * 121, lanes: { partsAtOnce: 24, recognizerLanes: 4 } },
      async before({ operation, block }) {
        if (operation === "transcribe" && ++count === 64) setTimeout(early.resolve, 20);
        if (operation !== "detectBlock" || block !== 23) return;
        await early.promise;
        expect(count).toBe(64);
      },
    });
    await made.segments;
    expect(recognized(made.requests)).toEqual(numbers(made.chunks));
  });

  test("are not recognized early on a machine with one or two lanes", async () => {
    const made = await transcribed({ lanes: TWO_LANES, pinned: "en" });
    await made.segments;
    expect(made.requests.filter(({ operation }) => operation === "planChunks")).toHaveLength(1);
  });
});

describe("a transcript and its checkpoints are the same without early work", () => {
  test.each<[string, Script]>([
    ["with a pinned language", { pinned: "de" }],
    ["with a language by vote", { spoken: () => "de" }],
    ["with several languages", { spoken: (chunk) => (chunk % 3 === 1 ? "de" : "en") }],
    ["with a first chunk in another language", { spoken: (chunk) => (chunk === 0 ? "de" : "en") }],
    ["with chunks in no sure language", { spoken: (chunk) => (chunk % 2 === 0 ? "" : "de") }],
  ])("%s", async (_, script) => {
    const without = await transcribed({ ...script, lanes: TWO_LANES });
    const segments = await without.segments;
    for (const lanes of [GPU, MANY_LANES]) {
      const early = await transcribed({ ...script, lanes, before: holdingLastBlock(() => true) });
      expect(await early.segments).toEqual(segments);
      expect(early.checkpoints()).toEqual(without.checkpoints());
      expect(early.counted()).toEqual(without.counted());
      expect(early.stored()).toEqual(without.stored());
      expect(early.requests.filter(({ blocks }) => blocks !== undefined).length).toBeGreaterThan(0);
    }
  });
});

describe("an early result that no step needs", () => {
  const spoken = (chunk: number) => (chunk === 0 ? "de" : "en");

  test("does not count, and its operation is not doubted", async () => {
    const isOfJingle = ({ operation, of, language }: Request) =>
      operation === "transcribe" && of === 0 && language === "de";
    let ended = "";
    const made = await transcribed({
      spoken,
      before: holdingLastBlock(isOfJingle, async (request, signal) => {
        if (!isOfJingle(request)) return;
        await hang(signal).finally(() => {
          ended = "aborted";
        });
      }),
    });
    await made.segments;
    expect(made.requests.filter(isOfJingle)).toHaveLength(1);
    expect(ended).toBe("aborted");
    expect(made.counted()).toEqual([{ model: "whisper-base", parts: made.chunks }]);
    expect(made.stored()).toEqual(numbers(made.chunks));
    for (const one of made.tries()) expect(one).toMatchObject({ deaths: 0, interruptions: 0 });
  });
});

describe("early work", () => {
  test("that fails is repeated by the step, and no further chunk is recognized early", async () => {
    let failures = 0;
    const made = await transcribed({
      pinned: "en",
      before: holdingLastBlock(
        ({ of }) => of === 0,
        ({ operation, of }) => {
          if (operation === "transcribe" && of === 0 && failures++ === 0) throw new Error("it failed");
        },
      ),
    });
    await made.segments;
    expect(recognized(made.requests)).toEqual([0, ...numbers(made.chunks)]);
  });

  test.each([
    ["cancelled", new Error("cancelled")],
    ["suspended", new SuspendError(60_000)],
  ])("stops at once when the recording is %s", async (_, reason) => {
    const controller = new AbortController();
    const signals: AbortSignal[] = [];
    const made = await transcribed({
      ...{ pinned: "en", signal: controller.signal },
      before: holdingLastBlock(
        () => signals.length === 1,
        async ({ operation }, signal) => {
          if (operation !== "transcribe") return;
          signals.push(signal);
          if (signals.length === 2) controller.abort(reason);
          await hang(signal);
        },
      ),
    });
    await expect(made.segments).rejects.toBe(reason);
    const { length } = made.requests;
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
    await Bun.sleep(40);
    expect(made.requests).toHaveLength(length);
    for (const { operation, interruptions } of made.tries())
      if (operation.startsWith("transcribe")) expect(interruptions).toBe(0);
  });
});
