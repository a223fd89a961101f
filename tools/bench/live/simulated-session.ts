import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { DiskSpace } from "../../../src/disk/index.ts";
import type { Engine } from "../../../src/engine/index.ts";
import { SessionSound } from "../../../src/live/session/session-sound.ts";
import { SessionText } from "../../../src/live/session/session-text.ts";
import { SessionWork } from "../../../src/live/session/session-work.ts";
import { SessionFile } from "../../../src/live/sound/index.ts";
import type { OperationName, Params, Result } from "../../../src/operations/index.ts";
import { SAMPLE_RATE, secondsOf } from "../../../src/timeline/index.ts";
import type { Display } from "./judge.ts";
import { VirtualTime } from "./virtual-time.ts";

/** Sound that a client sends at once. */
const CHUNK_SAMPLES = 0.1 * SAMPLE_RATE;
/** The rules for turns of a client that names none. */
const RULES = { threshold: 0.5, paddingSeconds: 0.3, silenceSeconds: 0.5 };
/**
 * Seconds of a pass, and more for each second of its sound; seconds of a speech detection. They are those of one thread of
 * an AMD EPYC (zen4) with Whisper base and its encoder in ONNX form, and fixed, so that other load has no effect.
 */
const PASS_SECONDS = { each: 0.1, perSecond: 0.01 };
const DETECTION_SECONDS = 0.025;
/** Dimensions of a voice. Speakers are not found: that changes no word. */
const VOICE = { embedding: [1, 0] };

/** What a session needs to know of the models. */
export interface SimulatedModel {
  readonly path: string;
  /** Path of the ONNX form of its encoder; null for its own encoder. */
  readonly encoder: string | null;
  /** ISO 639. */
  readonly language: string;
}

/** The words that a session showed, and the time of its passes. */
export interface SimulatedRun {
  readonly displays: readonly Display[];
  readonly passSeconds: number;
}

/** Plays samples through a session of the program in virtual time. @param engine runs its operations */
export async function playSimulated(
  engine: Pick<Engine, "run">,
  { path: modelPath, encoder, language }: SimulatedModel,
  samples: Int16Array,
): Promise<SimulatedRun> {
  using directory = temporaryDirectory();
  const area = join(directory.path, "area");
  mkdirSync(area);
  const path = join(directory.path, "sound.pcm");
  const time = new VirtualTime();
  const displays: Display[] = [];
  let [final, partial, passSeconds] = ["", "", 0];
  const run = <N extends OperationName>(operation: N, params: Params<N>, signal: AbortSignal): Promise<Result<N>> => {
    if (operation === "embedSpeech") return time.take(Promise.resolve(VOICE as never), 0);
    const seconds = secondsFor(operation, params);
    if (operation === "transcribeLive") passSeconds += seconds;
    return time.take(engine.run(operation, params, signal), seconds);
  };
  const emit = (event: Parameters<ConstructorParameters<typeof SessionText>[0]["emit"]>[0]) => {
    if (event.type === "final") [final, partial] = [`${final} ${event.segment.text}`, ""];
    else if (event.type === "partial") partial = event.text;
    else return;
    displays.push({ at: time.seconds, final, partial });
  };
  const file = new SessionFile({ path, diskSpace: new DiskSpace(directory.path, () => 0), keep: false });
  const sound = new SessionSound({ encoding: "pcm16", sampleRate: SAMPLE_RATE }, file);
  const model = { id: "simulated", path: modelPath };
  let turns = 0;
  const failures: unknown[] = [];
  const work = new SessionWork({
    ...{ engine: { run }, directory: area, path, sound, rules: RULES, language, earlier: null, emit },
    models: {
      current: () => model,
      companionOf: () => null,
      routes: () => [],
      languagesOf: () => [{ code: language, modelCode: language, name: language }],
      knownEncoderOf: async () => encoder,
    },
    text: new SessionText({ id: "simulated", rows: null, emit, nextNumber: 0, respell: () => null }),
    vocabulary: () => "",
    newId: () => String(turns++),
    clock: () => 1000 * time.seconds,
    onFailure: (_, error) => void failures.push(error),
    onSettled: () => {},
    onBroken: () => {},
    onPass: () => {},
  });
  for (let first = 0; first < samples.length; first += CHUNK_SAMPLES) {
    const chunk = samples.slice(first, first + CHUNK_SAMPLES);
    time.at((first + chunk.length) / SAMPLE_RATE, () => {
      sound.write(new Uint8Array(chunk.buffer));
      work.wake();
    });
  }
  time.at(samples.length / SAMPLE_RATE, () => void work.end());
  await time.run();
  await work.stop();
  await sound.close();
  if (failures.length > 0) throw failures[0];
  return { displays, passSeconds };
}

function secondsFor<N extends OperationName>(operation: N, params: Params<N>): number {
  if (operation === "detectSpeech") return DETECTION_SECONDS;
  const { span } = params as Params<"transcribeLive">;
  return PASS_SECONDS.each + PASS_SECONDS.perSecond * secondsOf(span);
}
