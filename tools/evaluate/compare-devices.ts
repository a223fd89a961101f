import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { countErrors } from "../../harness/wer.ts";
import { CommandError } from "../shared/run-command.ts";
import { errorsOf, type Rate, unitsOf } from "./measure-words.ts";
import type { Normalise } from "./scorer.ts";

/** The transcripts of one recording by two devices, with the reference text. */
export interface DeviceTranscripts {
  readonly path: string;
  readonly language: string;
  readonly referenceText: string;
  readonly cpu: string;
  readonly gpu: string;
}

/** The difference between two devices, over one recording or several. */
export interface Difference {
  /** Words in which the GPU's transcript differs, over the words of the CPU's transcript. */
  readonly differing: Rate;
  /** Word errors of each device. */
  readonly cpu: Rate;
  readonly gpu: Rate;
}

/** Compares two transcripts. The scorer's normalization removes differences in case and spelling. */
export function differenceOf(
  normalise: Normalise,
  { language, referenceText, cpu, gpu }: DeviceTranscripts,
): Difference {
  const units = (text: string) => unitsOf(normalise, language, text);
  const between = (reference: string, other: string): Rate => {
    const count = countErrors(units(reference), units(other));
    return { errors: errorsOf(count), length: count.length };
  };
  return { differing: between(cpu, gpu), cpu: between(referenceText, cpu), gpu: between(referenceText, gpu) };
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

  add(device: "cpu" | "gpu", recording: string, text: string): void {
    this.#texts[device][recording] = text;
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
