import { join } from "node:path";
import type { Engine } from "../engine/index.ts";
import type { ProgramFiles } from "../program/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { SAMPLE_RATE } from "../timeline/index.ts";
import { withSpeechSample } from "./speech-models.ts";

/** Live sessions at the same time where nothing was measured yet. */
const UNMEASURED_PLACES = 2;
/** Sound of the measured passes: a usual pass covers so much. */
const SPAN = { startSeconds: 0, endSeconds: 7 };
/** Number of passes, of which the fastest counts. The first one loads the model. */
const PASSES = 4;
/** New speech after which a session requests a pass. */
const STEP_SECONDS = 0.8;
/** Share of the lanes that live sessions may take from recordings. Chosen, not measured. */
const LIVE_SHARE = 0.5;
/** Longest measurement. A slower machine serves one session at most. */
const MAX_SECONDS = 60;
/** Longest wait for the test of an encoder. The test of Whisper base takes five seconds. */
const ENCODER_MAX_SECONDS = 600;

interface LivePlacesOptions {
  readonly engine: Pick<Engine, "run" | "lanes">;
  /** Returns the path of the model that live sessions use. */
  readonly modelPath: () => string;
  /** Returns the path of the ONNX form of that model's encoder, if sessions use it. May test that form first. */
  readonly encoder: (signal: AbortSignal) => Promise<string | null | undefined>;
  readonly files: Pick<ProgramFiles, "ffmpeg" | "benchRecording">;
  /** Place of the sample, which the next start cleans up after a kill. */
  readonly directory: string;
  /** Returns whether nothing else computes, which would make the measurement slower. */
  readonly isIdle: () => boolean;
  readonly log: Logger;
  /** Milliseconds of a monotonic clock. */
  readonly clock: () => number;
}

/**
 * The number of live sessions that this machine serves at the same time, by the measured duration of their passes over the
 * latest sound. One more session is refused, because it would slow down all.
 */
export class LivePlaces {
  readonly #options: LivePlacesOptions;
  /** The measurement of one model with one encoder; null before the first. */
  #measured: { readonly modelPath: string; readonly encoder: string | null; readonly places: number } | null = null;

  constructor(options: LivePlacesOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#measured?.places ?? UNMEASURED_PLACES;
  }

  /** Measures, unless the model and the encoder in use were measured, or something else computes. */
  async measure(): Promise<void> {
    const { engine, modelPath, isIdle, files, directory, log } = this.#options;
    const path = modelPath();
    if (engine.lanes === 0 || !isIdle()) return;
    const encoder = (await this.#options.encoder(AbortSignal.timeout(ENCODER_MAX_SECONDS * 1000))) ?? null;
    if (!isIdle()) return;
    if (this.#measured?.modelPath === path && this.#measured.encoder === encoder) return;
    const model = { path, encoder };
    const seconds = await withSpeechSample(files, (pcmPath) => this.#fastestPass(model, pcmPath), directory);
    // A recording that was sent meanwhile has slowed the passes.
    if (!isIdle()) return;
    const places = placesOf(engine.lanes, seconds);
    this.#measured = { modelPath: path, encoder, places };
    log.info({ event: "live.measured", passMilliseconds: Math.round(seconds * 1000), places });
  }

  async #fastestPass(
    { path: model, encoder }: { readonly path: string; readonly encoder: string | null },
    pcmPath: string,
  ): Promise<number> {
    const { engine, clock } = this.#options;
    const pcm = { path: pcmPath, sampleCount: Math.round(SPAN.endSeconds * SAMPLE_RATE) };
    const area = { directory: join(pcmPath, ".."), pcm };
    const signal = AbortSignal.timeout(MAX_SECONDS * 1000);
    let fastest = Number.POSITIVE_INFINITY;
    for (let pass = 0; pass < PASSES; pass++) {
      const startedAt = clock();
      const params = { area, span: SPAN, model, language: "en", ...(encoder === null ? {} : { encoder }) };
      await engine.run("transcribeLive", params, signal);
      fastest = Math.min(fastest, (clock() - startedAt) / 1000);
    }
    return fastest;
  }
}

/**
 * Returns the number of sessions whose passes take at most their share of the lanes.
 * @param passSeconds duration of a pass
 */
export function placesOf(lanes: number, passSeconds: number): number {
  return Math.max(1, Math.floor((lanes * LIVE_SHARE * Math.max(STEP_SECONDS, passSeconds)) / passSeconds));
}
