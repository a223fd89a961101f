import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { cpu as cpuDevice, cpuSettings, gpuOf } from "../../harness/device.ts";
import {
  corpusOption,
  errorsIn,
  installScorer,
  type Normalise,
  type Rate,
  type Reference,
  readSelected,
  sum,
} from "../corpus/index.ts";
import { circumstances } from "../shared/circumstances.ts";
import { defineCommand } from "../shared/command.ts";
import { cpuOption, cpuTerms } from "../shared/cpu-variant.ts";
import { percent } from "../shared/figures.ts";
import { text } from "../shared/options.ts";
import { CommandError } from "../shared/run-command.ts";
import { EvaluationServer, textOf } from "./server.ts";

/** Smallest share of words that must be equal on both devices. */
const MIN_EQUAL_SHARE = 0.99;

export const command = defineCommand({
  name: "scripts/evaluate devices",
  about:
    "Compares the words recognized on a GPU with those on the CPU. Sends the recordings of single/ to two servers of this " +
    "checkout, the shortest first. Fails when fewer than 99 % of the words are equal. A NAME selects the recordings whose " +
    "path contains it.",
  names: "NAME",
  options: {
    gpu: text(
      "WHICH",
      "software (Mesa's device on the CPU: more than an hour), vulkan, or the path of CUDA's library",
      "software",
    ),
    keep: text("FILE", "store each transcript in FILE; a later run with the same FILE continues from there"),
    json: text("FILE", "write the figures with references and transcripts to FILE"),
    cpu: cpuOption,
    audio: corpusOption,
  },
  async run({ gpu, keep, json, cpu, audio }, names) {
    const isSingle = ({ group }: Reference) => group === "single";
    const selected = await readSelected({ audio, names }, "recording of single/", isSingle);
    const chosen = selected.chosen.toSorted((one, other) => one.durationSeconds - other.durationSeconds);
    const when = await circumstances(Date.now());
    const settings = await cpuSettings(cpu);
    const texts = new StoredTexts(keep, [`${when.commit} with the GPU ${gpu}`, ...cpuTerms(cpu)].join(", "));
    for (const device of ["cpu", "gpu"] as const) {
      const missing = chosen.filter(({ path }) => texts.get(device, path) === undefined);
      if (missing.length === 0) continue;
      await using server = await EvaluationServer.start(
        selected.corpus,
        device === "cpu" ? cpuDevice : await gpuOf(gpu),
        settings,
      );
      for (const { path, file } of missing) {
        texts.add(device, path, textOf(await server.transcribe(file)));
        if (process.stderr.isTTY) console.error(`${device} ${path}`);
      }
    }
    const transcripts = chosen.map(({ path, language, text: said }): DeviceTranscripts => {
      const by = (device: "cpu" | "gpu") => texts.get(device, path) ?? "";
      return { path, language, referenceText: said ?? "", cpu: by("cpu"), gpu: by("gpu") };
    });
    const scorer = await installScorer();
    const normalise = await scorer.normalise(
      transcripts.flatMap(({ language, referenceText, ...by }) =>
        [referenceText, by.cpu, by.gpu].map((one) => [language, one] as const),
      ),
    );
    const results = transcripts.map((each) => ({ ...each, ...differenceOf(normalise, each) }));
    const sumOf = (name: keyof Difference) => sum(results.map((result) => result[name]));
    const all: Difference = { differing: sumOf("differing"), onCpu: sumOf("onCpu"), onGpu: sumOf("onGpu") };
    for (const term of cpuTerms(cpu)) console.log(term);
    for (const { path, ...difference } of [...results, { path: `all ${results.length}`, ...all }]) {
      console.log(`${path}: ${describe(difference)}`);
    }
    if (json !== null) await Bun.write(json, `${JSON.stringify({ ...when, gpu, cpu, all, results }, null, 2)}\n`);
    if (equalShare(all.differing) < MIN_EQUAL_SHARE) {
      throw new CommandError(`less than ${percent(MIN_EQUAL_SHARE)} of the words are equal`);
    }
  },
});

function describe({ differing, onCpu, onGpu }: Difference): string {
  const wrong = ({ errors, length }: Rate) => `${percent(length === 0 ? 0 : errors / length)} (${errors} of ${length})`;
  const equal = `${percent(equalShare(differing))} equal (${differing.errors} of ${differing.length} differ)`;
  return `${equal}, ${wrong(onCpu)} wrong on the CPU, ${wrong(onGpu)} on the GPU`;
}

/** The transcripts of one recording by two devices, with the reference text. */
interface DeviceTranscripts {
  readonly path: string;
  readonly language: string;
  readonly referenceText: string;
  readonly cpu: string;
  readonly gpu: string;
}

/** The difference between two devices, over one recording or several. */
interface Difference {
  /** Words in which the GPU's transcript differs, over the words of the CPU's transcript. */
  readonly differing: Rate;
  /** Word errors of each device. */
  readonly onCpu: Rate;
  readonly onGpu: Rate;
}

/** Compares two transcripts. The scorer's normalization removes differences in case and spelling. */
export function differenceOf(normalise: Normalise, transcripts: DeviceTranscripts): Difference {
  const between = (reference: string, other: string) => errorsIn(normalise, transcripts.language, reference, other);
  const { referenceText, cpu, gpu } = transcripts;
  return { differing: between(cpu, gpu), onCpu: between(referenceText, cpu), onGpu: between(referenceText, gpu) };
}

/** Returns the share of equal words, from 0 to 1; 1 when both transcripts are empty. */
export function equalShare({ errors, length }: Rate): number {
  if (errors === 0) return 1;
  return length === 0 ? 0 : Math.max(0, 1 - errors / length);
}

const textsSchema = Type.Object({
  /** The commit, and the device that is compared with the CPU. */
  of: Type.String(),
  cpu: Type.Record(Type.String(), Type.String()),
  gpu: Type.Record(Type.String(), Type.String()),
});

/** Transcripts by recording, stored in a file after each one: with a GPU in software, all of them take an hour. */
export class StoredTexts {
  readonly #path: string | null;
  readonly #texts: Static<typeof textsSchema>;

  /**
   * @param path null to keep the transcripts in memory only
   * @param of the commit and the device; a file of another commit or device is not continued
   * @throws {CommandError} when the file is of another commit or device, or is not such a file
   */
  constructor(path: string | null, of: string) {
    this.#path = path;
    this.#texts = path !== null && existsSync(path) ? read(path) : { of, cpu: {}, gpu: {} };
    if (this.#texts.of !== of) {
      throw new CommandError(`${path} contains transcripts of ${this.#texts.of}, not of ${of}; remove it`);
    }
  }

  get(device: "cpu" | "gpu", recording: string): string | undefined {
    return this.#texts[device][recording];
  }

  add(device: "cpu" | "gpu", recording: string, transcript: string): void {
    this.#texts[device][recording] = transcript;
    if (this.#path === null) return;
    writeFileSync(`${this.#path}.new`, `${JSON.stringify(this.#texts, null, 2)}\n`);
    renameSync(`${this.#path}.new`, this.#path);
  }
}

function read(path: string) {
  try {
    return Value.Parse(textsSchema, JSON.parse(readFileSync(path, "utf8")));
  } catch {
    throw new CommandError(`${path} was not written by scripts/evaluate devices`);
  }
}
