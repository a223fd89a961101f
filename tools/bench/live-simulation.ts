import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../harness/checkout.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { characterErrors, wordErrors } from "../../harness/wer.ts";
import { defaultCacheRoot } from "../../native/build.ts";
import { blockCount } from "../../src/blocks/index.ts";
import { chooseCpuLibraryFor } from "../../src/devices/index.ts";
import { Engine } from "../../src/engine/index.ts";
import { programFiles } from "../../src/program/index.ts";
import { loadGgml, onnxLibraryOf } from "../../src/runtimes/index.ts";
import { encoderPath, familyOf } from "../../src/speech/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import { SAMPLE_RATE } from "../../src/timeline/index.ts";
import { corpusOption, isByCharacter, type Reference, readSelected, samplesOf } from "../corpus/index.ts";
import { defineCommand } from "../shared/command.ts";
import { percent, quantile, total } from "../shared/figures.ts";
import { oneOf, texts, UsageError } from "../shared/options.ts";
import { asText } from "../shared/table.ts";
import { judge } from "./live/judge.ts";
import { playSimulated } from "./live/simulated-session.ts";
import { type RecognizedWord, spokenWords } from "./live/spoken-words.ts";

const nativeDirectory = join(root, "build/native");
const halves = ["tuning", "held-back", "all"] as const;

/** Figures of one recording. */
interface Played {
  readonly path: string;
  readonly seconds: number;
  readonly passSeconds: number;
  /** Units of the reference, and errors of the final text and of the same sound as a recording. */
  readonly length: number;
  readonly errors: number;
  readonly batchErrors: number;
  readonly shown: readonly number[];
  readonly final: readonly number[];
}

export const command = defineCommand({
  name: "scripts/bench live-simulation",
  about:
    "Plays the corpus through live sessions in virtual time, and prints the word error rate of the final words next to that " +
    "of the same sound as a recording, and the delays. Operations take fixed times, so other load has no effect. The " +
    "recordings are divided by their order: tune the method on one half, and measure the other one once.",
  options: {
    half: oneOf("HALF", "the recordings to play", { names: halves, fallback: "tuning" }),
    only: texts("PART", "play only the recordings whose path contains PART"),
    audio: corpusOption,
  },
  async run({ half, only, audio }) {
    const { corpus } = await readSelected({ audio, names: [] }, "recording with a text", ({ text }) => text !== null);
    const known = corpus.filter(({ text }) => text !== null).toSorted((a, b) => (a.path < b.path ? -1 : 1));
    const wanted = known
      .filter((_, index) => half === "all" || halves[index % 2] === half)
      .filter(({ path }) => only.length === 0 || only.some((part) => path.includes(part)));
    if (wanted.length === 0) throw new UsageError(`--only selects no recording of ${half}`);
    await using machine = await openMachine();
    const played: Played[] = [];
    for (const reference of wanted) {
      const one = await playReference(machine, reference);
      played.push(one);
      console.error(`${one.path}: ${one.errors} errors, ${one.batchErrors} as a recording, of ${one.length}`);
    }
    console.log(asText(tableOf(played)));
  },
});

function tableOf(played: readonly Played[]) {
  const length = total(played, (one) => one.length);
  const seconds = total(played, (one) => one.seconds);
  const delays = (of: "shown" | "final") => {
    const all = played.flatMap((one) => one[of]);
    return [0.5, 0.95].map((share) => quantile(all, share).toFixed(2)).join(" / ");
  };
  return {
    head: ["recordings", "minutes", "WER", "as recordings", "shown, s", "final, s", "cores"],
    lines: [
      [
        String(played.length),
        (seconds / 60).toFixed(1),
        percent(total(played, (one) => one.errors) / length),
        percent(total(played, (one) => one.batchErrors) / length),
        delays("shown"),
        delays("final"),
        (total(played, (one) => one.passSeconds) / seconds).toFixed(2),
      ],
    ],
  };
}

/** Starts a worker with the models of this checkout. */
async function openMachine() {
  const { speechModel, onnxBinding, segmentationModel, embeddingModel } = await programFiles("");
  const program = [process.execPath, join(root, "src/main.ts")];
  const verdictsPath = join(defaultCacheRoot(), "devices.json");
  const selfTest = { command: [...program, "__selftest"], nativeDirectory, verdictsPath };
  const { cpuLibrary } = await chooseCpuLibraryFor(selfTest, [speechModel]);
  const directory = temporaryDirectory();
  const encoders = join(directory.path, "encoders");
  mkdirSync(encoders);
  const comparison = await familyOf(speechModel).compareEncoders?.({
    runtime: loadGgml({ nativeDirectory, cpuLibrary }),
    modelPath: speechModel,
    library: onnxLibraryOf(onnxBinding),
    directory: encoders,
  });
  const engine = new Engine({
    command: [...program, "__worker"],
    prepare: async () => [
      {
        ...{ type: "start", nativeDirectory, cpuLibrary, onnxBinding, speechModel, segmentationModel, embeddingModel },
        ...{ threads: 1, speechThreads: 1, lanes: 2 },
      },
    ],
    log: createLogger("silent"),
  });
  const encoder = comparison !== undefined && "name" in comparison ? encoderPath(encoders, comparison.name) : null;
  return {
    ...{ engine, path: speechModel, encoder },
    async [Symbol.asyncDispose]() {
      await engine.close();
      directory[Symbol.dispose]();
    },
  };
}

type Machine = Awaited<ReturnType<typeof openMachine>>;

async function playReference(machine: Machine, reference: Reference): Promise<Played> {
  const { language, text, path } = reference;
  const samples = Int16Array.from(await samplesOf(reference.file), (sample) => {
    return Math.round(32_767 * Math.max(-1, Math.min(1, sample)));
  });
  const seconds = samples.length / SAMPLE_RATE;
  const batch = await transcribeWhole(machine, samples, language);
  const { displays, passSeconds } = await playSimulated(machine.engine, { ...machine, language }, samples);
  const errorsOf = (heard: string) => {
    const counts = (isByCharacter(language) ? characterErrors : wordErrors)(text ?? "", heard);
    return { ...counts, errors: counts.substitutions + counts.deletions + counts.insertions };
  };
  const { errors, length } = errorsOf(displays.at(-1)?.final ?? "");
  const pieces = [{ kind: "", startSeconds: 0, endSeconds: seconds, text }];
  const judgement = judge(displays, spokenWords(pieces, batch), pieces);
  const delays = (of: "shown" | "final") => judgement[of].map((delay) => delay.seconds);
  const batchErrors = errorsOf(batch.map((word) => word.text).join("")).errors;
  return { path, seconds, passSeconds, length, errors, batchErrors, shown: delays("shown"), final: delays("final") };
}

/** Transcribes samples as a recording. */
async function transcribeWhole(
  { engine, path: model, encoder }: Machine,
  samples: Int16Array,
  language: string,
): Promise<RecognizedWord[]> {
  using place = temporaryDirectory();
  const pcm = { path: join(place.path, "sound.pcm"), sampleCount: samples.length };
  await Bun.write(pcm.path, samples);
  const area = { directory: place.path, pcm };
  const { signal } = new AbortController();
  for (let block = 0; block < blockCount(samples.length); block++) {
    await engine.run("detectBlock", { area, block }, signal);
  }
  const { chunks } = await engine.run("planChunks", { area }, signal);
  const words: RecognizedWord[] = [];
  for (const chunk of chunks) {
    const params = { area, chunk, model, language, ...(encoder === null ? {} : { encoder }) };
    words.push(...(await engine.run("transcribe", params, signal)).words);
  }
  return words;
}
