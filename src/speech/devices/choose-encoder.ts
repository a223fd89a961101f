import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { encoderPath, isSoundEncoder } from "../recognizer/whisper/index.ts";
import { askSelfTest } from "./ask-self-test.ts";
import type { Failure } from "./attempt.ts";
import { type CpuTestOptions, variantKeys } from "./cpu-self-test.ts";
import { type EncoderAnswer, encoderAnswerSchema } from "./self-test-answers.ts";
import { addVerdicts, failureVerdict, readVerdicts, type Verdict } from "./verdicts.ts";

/** What a model's encoder is known by. */
export interface EncoderKeys extends Pick<CpuTestOptions, "nativeDirectory" | "whisperModel" | "verdictsPath" | "cpu"> {
  /** The CPU variant that whisper.cpp computes with. */
  readonly cpuLibrary: string;
  /** ONNX Runtime's addon. */
  readonly onnxBinding: string;
  /** Where encoders are kept. */
  readonly encoderDirectory: string;
}

export type EncoderChoiceOptions = EncoderKeys & CpuTestOptions;

/** Making and comparing a large model's, on a slow disk. */
const timeoutMilliseconds = 600_000;
/**
 * How far the two may be apart. With base, whisper.cpp's own is 0.04 off the exact numbers on the self-test's tones and 0.09
 * on speech, and ours is 0.01 off on both; nonsense is off by 1 and more.
 */
const mostError = 0.25;
/** An encoder that is hardly faster isn't worth the memory that it takes. */
const leastGain = 1.1;
/** How long the verdict "no faster" holds: other programs may have kept the machine busy during the trial. */
const slownessHoldsMilliseconds = 7 * 86_400_000;
/** Raise it with every change of the test. */
const testVersion = 1;

/** Takes the place of an encoder's name in a verdict against it. */
const noLibrary = "encoder";

/** What a trial found. */
export interface EncoderFinding {
  /** As of `knownEncoder`. */
  readonly path: string | null;
  /** In words: how much faster it is, or why it is not used. */
  readonly detail: string;
}

/**
 * The path of the ONNX form of a model's encoder where it is known to be right and faster here than whisper.cpp's own; null
 * where that is, and undefined where nothing is known yet: `tryEncoder` finds it out.
 */
export async function knownEncoder(options: EncoderKeys): Promise<string | null | undefined> {
  const verdict = await verdictOf(options);
  if (verdict === undefined) return undefined;
  if (verdict.state !== "works") return null;
  const path = encoderPath(options.encoderDirectory, verdict.library);
  // one that somebody removed or damaged is made again
  return (await isSoundEncoder(path)) ? path : undefined;
}

/** Which encoder is used and why, in words; null where nothing is known yet. */
export async function describeEncoder(options: EncoderKeys): Promise<string | null> {
  const verdict = await verdictOf(options);
  if (verdict === undefined) return null;
  return verdict.state === "works"
    ? `one for ONNX Runtime, ${timesAsFast(verdict.score)} whisper.cpp's own`
    : `whisper.cpp's own; of the one for ONNX Runtime: ${verdict.reason}`;
}

/**
 * Makes a model's encoder and tries it, in a process that may crash; what is found out is kept.
 * @throws Error where nothing was found out; the signal's reason
 */
export async function tryEncoder(options: EncoderChoiceOptions): Promise<EncoderFinding> {
  const { nativeDirectory, cpuLibrary, whisperModel, onnxBinding, encoderDirectory } = options;
  const key = await keyOf(options);
  const args = ["encoder", nativeDirectory, cpuLibrary, whisperModel, onnxBinding, encoderDirectory];
  const trial = await askSelfTest({ timeoutMilliseconds, ...options }, args, encoderAnswerSchema);
  const verdict = trial.ok ? judge(trial.answer) : keptOf(trial);
  addVerdicts(options.verdictsPath, { [key]: verdict });
  if (verdict.state !== "works") return { path: null, detail: verdict.reason };
  const path = encoderPath(encoderDirectory, verdict.library);
  return { path, detail: `${timesAsFast(verdict.score)} whisper.cpp's own` };
}

/** The verdict on a trial that failed. @throws Error where it may go better another time */
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
    return { ...failed(`it is ${timesAsFast(score)} whisper.cpp's own`), holdsUntil };
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
