import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type EncoderComparison, encoderPath, isSoundEncoder } from "../speech/index.ts";
import { type CpuTestOptions, cpuLibraryKeys } from "./cpu-libraries.ts";
import { runSelfTest, type SelfTestResult } from "./run-self-test.ts";
import { addVerdicts, failureVerdict, readVerdicts, type Verdict, verdictKey } from "./verdicts.ts";

/** A model's encoder and the device that it is tested on. */
export interface EncoderTestOptions extends CpuTestOptions {
  /** CPU variant of the recognizer. */
  readonly cpuLibrary: string;
  /** ONNX Runtime's addon. */
  readonly onnxBinding: string;
}

/**
 * Maximum relative difference between the two encoders' outputs. With Whisper base, the model's own encoder deviates by
 * up to 0.09 from the exact numbers, the ONNX form by 0.01, and nonsense by 1 and more.
 */
const MAX_ERROR = 0.25;
/** Minimum speedup; an encoder that is hardly faster does not justify its memory. */
const MIN_SPEEDUP = 1.1;
/** Validity of a verdict "no faster": other programs may have kept the machine busy during the benchmark. */
const SLOWNESS_HOLDS_MILLISECONDS = 7 * 86_400_000;
/** Version of the self-test; increase it with every change of the test. */
const TEST_VERSION = 2;

/** Placeholder for the encoder's name in a negative verdict. */
const NO_LIBRARY = "encoder";

/** Result of a self-test. */
export interface EncoderFinding {
  /** Path as returned by `storedEncoder`. */
  readonly path: string | null;
  /** Description for people: the speedup, or why the encoder is not used. */
  readonly detail: string;
}

/**
 * Returns the path of the ONNX form of a model's encoder if a stored verdict says it is correct and faster than the
 * model's own; null if the model's own encoder is to be used; undefined without a verdict.
 */
export async function storedEncoder(options: EncoderTestOptions): Promise<string | null | undefined> {
  const verdict = readVerdicts(options.verdictsPath)[await keyOf(options)];
  if (verdict === undefined) return undefined;
  if (verdict.state !== "works") return null;
  const path = encoderPath(encoderDirectory(options), verdict.library);
  // A removed or damaged encoder is created again.
  return (await isSoundEncoder(path)) ? path : undefined;
}

/** Which encoder is used. */
export interface EncoderDescription {
  /** How the ONNX form computes, for people: `8-bit products`; null if the model's own encoder is used. */
  readonly form: string | null;
  /** The encoder and the reason of the choice, for people. */
  readonly text: string;
}

/** Describes which encoder is used and why; null if there is no verdict yet. */
export async function describeEncoder(options: EncoderTestOptions): Promise<EncoderDescription | null> {
  const verdict = readVerdicts(options.verdictsPath)[await keyOf(options)];
  if (verdict === undefined) return null;
  const { state, form = "a form for ONNX Runtime", score, reason } = verdict;
  return state === "works"
    ? { form, text: `${form}, ${speedup(score)} the model's own` }
    : { form: null, text: `the model's own; of the one for ONNX Runtime: ${reason}` };
}

/**
 * Creates a model's encoder, tests it in a separate process, and stores the verdict. @throws Error if there is no
 * verdict
 */
export async function testEncoder(options: EncoderTestOptions): Promise<EncoderFinding> {
  const key = await keyOf(options);
  const directory = encoderDirectory(options);
  const result = await runSelfTest("compareEncoders", { ...options, encoderDirectory: directory });
  const verdict = judge(result);
  addVerdicts(options.verdictsPath, { [key]: verdict });
  if (verdict.state !== "works") return { path: null, detail: verdict.reason };
  return {
    path: encoderPath(directory, verdict.library),
    detail: `${verdict.form}, ${speedup(verdict.score)} the model's own`,
  };
}

/** @throws Error if the self-test failed and may succeed in a retry */
function judge(result: SelfTestResult<EncoderComparison>): Verdict {
  if (!result.ok) {
    const verdict = failureVerdict(NO_LIBRARY, result);
    if (verdict === null) throw new Error(result.reason);
    return verdict;
  }
  const { answer } = result;
  const failure = (reason: string): Verdict => ({ library: NO_LIBRARY, score: 0, state: "failed", reason });
  if ("unsuitable" in answer) return failure(answer.unsuitable);
  const { name, form, seconds, ownSeconds, error } = answer;
  if (error > MAX_ERROR) return failure(`its output deviates by ${error.toFixed(2)}`);
  const score = ownSeconds / seconds;
  if (score >= MIN_SPEEDUP) return { library: name, score, state: "works", reason: "", form };
  const holdsUntil = Date.now() + SLOWNESS_HOLDS_MILLISECONDS;
  return { ...failure(`it is ${speedup(score)} the model's own`), holdsUntil };
}

function speedup(times: number): string {
  return `${times.toFixed(2)} times as fast as`;
}

/** Returns the directory of the encoders' ONNX forms, which lies next to the file of verdicts. */
function encoderDirectory({ verdictsPath }: EncoderTestOptions): string {
  return join(dirname(verdictsPath), "encoders");
}

async function keyOf(options: EncoderTestOptions): Promise<string> {
  const ofLibrary = (await cpuLibraryKeys(options)).get(options.cpuLibrary) ?? "";
  const onnx = await stat(options.onnxBinding);
  return verdictKey([TEST_VERSION, ofLibrary, onnx.size, onnx.mtimeMs]);
}
