import { blockCount } from "../blocks/index.ts";
import type { OperationName, Params, Result } from "../operations/index.ts";
import { SuspendError } from "../queue/index.ts";
import { type Language, sureProbability } from "../speech/index.ts";
import { messageOf, orAborted } from "../text/index.ts";
import type { Chunk } from "../timeline/index.ts";
import { type BoundModel, foreseeModel, type RecordingModels } from "./bind-model.ts";
import { type DetectedBlocks, isPlanned } from "./detect.ts";
import { detectLanguage, soleLanguage } from "./language.ts";
import type { SpareLanes } from "./spare-lanes.ts";
import { type StepContext, type StepEngine, withRun } from "./step.ts";
import type { Track, TrackContext } from "./tracks.ts";
import { recognizerOf } from "./transcribe.ts";

/** Maximum number of chunks of a recording that are recognized early. Their words (10 kB each) are in memory. */
const MAX_CHUNKS = 64;
/** Minimum number of lanes for early work where all operations share them. Fewer have no lane to spare for long. */
const MIN_SHARED_LANES = 3;

/** An operation that was started before the step that needs it. */
interface EarlyResult {
  readonly result: Promise<unknown>;
  /** ISO code of the language that the recognizer was given; null for the detection of a language. */
  readonly language: string | null;
  readonly started: AbortController;
}

/**
 * Recognizes the first chunks of a recording while the speech of its later blocks is detected, in lanes that would be
 * idle. Nothing is stored or counted: the later steps request the same operations as without early work, and one with
 * the same parameters as an early operation takes that operation's result. An early failure is therefore no failure of
 * the recording, and a result that no step requests has no effect.
 *
 * Only for recordings of one track: the chunks of a call's parties continue over long silences, so that the last known
 * chunk may change as long as the rest is unknown.
 */
export class EarlyChunks implements AsyncDisposable {
  readonly #engine: StepEngine;
  readonly #lanes: SpareLanes;
  readonly #results = new Map<string, EarlyResult>();
  readonly #plan = Promise.withResolvers<readonly Chunk[]>();
  /** Aborted when no further early operation may start. */
  readonly #starting = new AbortController();
  readonly #log: (fields: { event: string; chunks?: number; detail?: string }) => void;
  #work = Promise.resolve();

  /** @param engine the engine that `lanes` distributes */
  constructor({ engine, recording, log }: Pick<StepContext, "engine" | "recording" | "log">, lanes: SpareLanes) {
    this.#engine = engine;
    this.#lanes = lanes;
    this.#log = (fields) => log.debug({ ...fields, recordingId: recording.id });
  }

  /** Starts early work, unless the machine has no lanes for it or the chunks are already known. */
  start(context: TrackContext, track: Track, blocks: DetectedBlocks, models: RecordingModels): void {
    const { partsAtOnce, recognizerLanes = 0 } = this.#engine;
    const hasLanes = recognizerLanes > 1 || partsAtOnce >= MIN_SHARED_LANES;
    if (!hasLanes || track.isParty || isPlanned(context)) return;
    // The results would be lost with the server, so a suspension grants no time for them.
    context.signal.addEventListener("abort", () => this.#stop(), { once: true });
    const own = { ...context, signal: this.#starting.signal };
    this.#work = this.#recognize(own, track, blocks, models).catch((error: unknown) => {
      if (this.#starting.signal.aborted) return;
      this.#starting.abort(new SuspendError(0));
      this.#log({ event: "recording.early_work_failed", detail: messageOf(error) });
    });
  }

  /** Notes the chunks of the whole track. */
  planned(chunks: readonly Chunk[]): void {
    this.#plan.resolve(chunks);
  }

  /** Returns a step's context whose operations take early results, and share the languages that the step detects. */
  inStep<C extends StepContext>(context: C): C {
    const engine = withRun(context.engine, async (...request) => {
      const [operation, params, signal] = request;
      const key = keyOf(operation, params);
      const early = this.#results.get(key);
      if (early === undefined) {
        const result = context.engine.run(...request);
        if (operation === "detectLanguage" && !this.#starting.signal.aborted) this.#store(key, null, () => result);
        return await result;
      }
      try {
        return (await orAborted(early.result, signal)) as Result<typeof operation>;
      } catch {
        // The step must have the failure that it has without early work, or none.
        signal.throwIfAborted();
        return await context.engine.run(...request);
      }
    });
    return { ...context, engine };
  }

  /**
   * Ends early work, because the next step requests all chunks. Running operations continue if it may need them.
   * @param language ISO code of the only language in which chunks are transcribed; null if there are several
   */
  settle(language: string | null): void {
    this.#starting.abort(new SuspendError(0));
    const chunks = this.#results.values().filter((early) => early.language !== null);
    this.#log({ event: "recording.early_chunks", chunks: chunks.toArray().length });
    for (const [key, { language: other, started }] of this.#results) {
      if (language === null || other === null || other === language) continue;
      this.#results.delete(key);
      started.abort(new SuspendError(0));
    }
  }

  /** Aborts what is still running, and waits until it has stopped. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop();
    await Promise.allSettled([this.#work, ...this.#results.values().map(({ result }) => result)]);
    this.#results.clear();
  }

  /** Stops without counting an interruption against the operations, see countAttempts. */
  #stop(): void {
    this.#starting.abort(new SuspendError(0));
    for (const { started } of this.#results.values()) started.abort(new SuspendError(0));
  }

  async #recognize(context: TrackContext, track: Track, blocks: DetectedBlocks, models: RecordingModels) {
    const model = await foreseeModel(context, models);
    if (model === null) return;
    const sole = soleLanguage(context.recording, model);
    const recognizers = new Map<string, ReturnType<typeof recognizerOf>>();
    const recognizerFor = ({ code }: Language) => {
      const engine = this.#lanes.patientOf(this.#storing(code));
      const recognizer = recognizers.get(code) ?? recognizerOf({ ...context, engine }, model, sole === null);
      recognizers.set(code, recognizer);
      return recognizer;
    };
    const chunks = this.#finalChunks(context, track, blocks);
    const recognizeNext = async () => {
      for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
        const chunk = next.value;
        const language = sole ?? (await this.#languageOf(context, chunk, model));
        if (language !== null) await recognizerFor(language)({ chunk, language });
      }
    };
    // No more at a time: the recognizer remembers few windows whose language it has detected.
    await Promise.all(Array.from({ length: this.#engine.partsAtOnce }, recognizeNext));
  }

  /** Returns the first chunks of the track's plan, each as soon as no later block can change it. */
  async *#finalChunks({ area, signal }: TrackContext, track: Track, blocks: DetectedBlocks): AsyncGenerator<Chunk> {
    const all = blockCount(track.pcm.sampleCount);
    let given = 0;
    for (let known = 0; known < all && given < MAX_CHUNKS; ) {
      await blocks.until(track, known, signal);
      known = blocks.countFromStart(track);
      // Runs next to the detection of further blocks, whose lanes are never spare before the last ones.
      const early = () => this.#engine.run("planChunks", { area, blocks: known }, signal);
      const chunks = known < all ? (await early()).chunks : await orAborted(this.#plan.promise, signal);
      yield* chunks.slice(given, MAX_CHUNKS);
      given = chunks.length;
    }
  }

  /** Returns the language that a chunk is surely in; null if there is none. */
  async #languageOf({ area, signal }: TrackContext, chunk: Chunk, model: BoundModel): Promise<Language | null> {
    const engine = this.#lanes.patientOf(this.#storing(null));
    const probabilities = await detectLanguage({ engine, signal }, { area, chunk }, model);
    const [code] = Object.entries(probabilities).find(([, probability]) => probability >= sureProbability) ?? [];
    return model.languages.find(({ modelCode }) => modelCode === code) ?? null;
  }

  /** Returns an engine that stores its results, and runs no operation twice. */
  #storing(language: string | null): StepEngine {
    return withRun(this.#engine, async (operation, params) => {
      this.#starting.signal.throwIfAborted();
      const key = keyOf(operation, params);
      const { result } =
        this.#results.get(key) ?? this.#store(key, language, (signal) => this.#engine.run(operation, params, signal));
      return (await result) as Result<typeof operation>;
    });
  }

  #store(key: string, language: string | null, run: (signal: AbortSignal) => Promise<unknown>): EarlyResult {
    const started = new AbortController();
    const early = { result: run(started.signal), language, started };
    this.#results.set(key, early);
    early.result.catch(() => {
      if (this.#results.get(key) === early) this.#results.delete(key);
    });
    return early;
  }
}

function keyOf(operation: OperationName, params: Params<OperationName>): string {
  return `${operation} ${JSON.stringify(params)}`;
}
