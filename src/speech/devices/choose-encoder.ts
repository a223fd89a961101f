import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { encoderPath, isSoundEncoder } from "../recognizer/index.ts";
import { askSelfTest } from "./ask-self-test.ts";
import type { Failure } from "./attempt.ts";
import { type CpuTestOptions, variantKeys } from "./cpu-self-test.ts";
import { type EncoderAnswer, encoderAnswerSchema } from "./self-test-answers.ts";
import { addVerdicts, failureVerdict, readVerdicts, type Verdict } from "./verdicts.ts";

/** Properties that identify a model's encoder. */
export interface EncoderKeys extends Pick<CpuTestOptions, "nativeDirectory" | "speechModel" | "verdictsPath" | "cpu"> {
  /** CPU variant of the recognizer. */
  readonly cpuLibrary: string;
  /** ONNX Runtime's addon. */
  readonly onnxBinding: string;
  /** Directory in which encoders are stored. */
  readonly encoderDirectory: string;
}

export type EncoderChoiceOptions = EncoderKeys & CpuTestOptions;

/** Enough to create and compare the encoder of a large model on a slow disk. */
const timeoutMilliseconds = 600_000;
/**
 * Maximum relative difference between the two encoders' outputs. With Whisper base, the model's own encoder
 * deviates from the exact numbers by 0.04 on the self-test's tones. On speech it deviates by 0.09. Ours deviates by
 * 0.01 on both; nonsense deviates by 1 and more.
 */
const mostError = 0.25;
/** Minimum speedup; an encoder that is hardly faster does not justify its memory. */
const leastGain = 1.1;
/** How long a verdict "no faster" stays valid. Other programs may have kept the machine busy during the benchmark. */
const slownessHoldsMilliseconds = 7 * 86_400_000;
/** Version of the self-test; increase it with every change of the test. */
const testVersion = 1;

/** Placeholder for the encoder's name in a negative verdict. */
const noLibrary = "encoder";

/** Result of a self-test. */
export interface EncoderFinding {
  /** Path as returned by `knownEncoder`. */
  readonly path: string | null;
  /** Description for people: the speedup, or why the encoder is not used. */
  readonly detail: string;
}

/**
 * Returns the path of the ONNX form of a model's encoder if a stored verdict says it is correct and faster than
 * the model's own. Returns null if the model's own encoder is to be used. Returns undefined if there is no verdict
 * yet; `tryEncoder` produces one.
 */
export async function knownEncoder(options: EncoderKeys): Promise<string | null | undefined> {
  const verdict = await verdictOf(options);
  if (verdict === undefined) return undefined;
  if (verdict.state !== "works") return null;
  const path = encoderPath(options.encoderDirectory, verdict.library);
  // a removed or damaged encoder is created again
  return (await isSoundEncoder(path)) ? path : undefined;
}

/** Describes which encoder is used and why; null if there is no verdict yet. */
export async function describeEncoder(options: EncoderKeys): Promise<string | null> {
  const verdict = await verdictOf(options);
  if (verdict === undefined) return null;
  return verdict.state === "works"
    ? `one for ONNX Runtime, ${timesAsFast(verdict.score)} the model's own`
    : `the model's own; of the one for ONNX Runtime: ${verdict.reason}`;
}

/**
 * Creates a model's encoder, tests it in a separate process that may crash, and stores the verdict.
 * @throws Error if there is no verdict; the signal's reason if it is aborted
 */
export async function tryEncoder(options: EncoderChoiceOptions): Promise<EncoderFinding> {
  const { nativeDirectory, cpuLibrary, speechModel, onnxBinding, encoderDirectory } = options;
  const key = await keyOf(options);
  const args = ["encoder", nativeDirectory, cpuLibrary, speechModel, onnxBinding, encoderDirectory];
  const trial = await askSelfTest({ timeoutMilliseconds, ...options }, args, encoderAnswerSchema);
  const verdict = trial.ok ? judge(trial.answer) : keptOf(trial);
  addVerdicts(options.verdictsPath, { [key]: verdict });
  if (verdict.state !== "works") return { path: null, detail: verdict.reason };
  const path = encoderPath(encoderDirectory, verdict.library);
  return { path, detail: `${timesAsFast(verdict.score)} the model's own` };
}

/**
 * Returns the verdict on a failed self-test.
 * @throws Error if a retry may succeed
 */
function keptOf(failure: Failure): Verdict {
  const verdict = failureVerdict(noLibrary, failure);
  if (verdict === null) throw new Error(failure.reason);
  return verdict;
}

function judge(answer: EncoderAnswer): Verdict {
  if ("unsuitable" in answer) return failed(answer.unsuitable);
  const { name, seconds, ownSeconds, error } = answer;
  if (error > mostError) return failed(`its numbers are ${error.toFixed(2)} off`);
  const score = ownSeconds / seconds;
  if (score < leastGain) {
    const holdsUntil = Date.now() + slownessHoldsMilliseconds;
    return { ...failed(`it is ${timesAsFast(score)} the model's own`), holdsUntil };
  }
  return { library: name, score, state: "works", reason: "" };
}

function timesAsFast(times: number): string {
  return `${times.toFixed(2)} times as fast as`;
}

function failed(reason: string): Verdict {
  return { library: noLibrary, score: 0, state: "failed", reason };
}

async function verdictOf(options: EncoderKeys): Promise<Verdict | undefined> {
  return readVerdicts(options.verdictsPath)[await keyOf(options)];
}

async function keyOf(options: EncoderKeys): Promise<string> {
  const ofLibrary = (await variantKeys(options)).get(options.cpuLibrary) ?? "";
  const onnx = await stat(options.onnxBinding);
  const parts = JSON.stringify([testVersion, ofLibrary, onnx.size, onnx.mtimeMs]);
  return createHash("sha256").update(parts).digest("hex").slice(0, 32);
}
