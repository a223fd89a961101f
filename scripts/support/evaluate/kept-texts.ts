import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { CommandError } from "../run-command.ts";

const textsSchema = Type.Object({
  /** Commit, and what computes beside the CPU. */
  of: Type.String(),
  cpu: Type.Record(Type.String(), Type.String()),
  gpu: Type.Record(Type.String(), Type.String()),
});

/** Texts by the recordings' paths, which are put into a file as they come: it takes an hour where a CPU plays the GPU. */
export class KeptTexts {
  readonly #path: string | null;
  readonly #kept: Static<typeof textsSchema>;

  /**
   * @param path null: they are kept for this run alone
   * @param of what heard them; a file of anything else is not gone on with
   * @throws {CommandError} where the file is of something else, or no such file
   */
  constructor(path: string | null, of: string) {
    this.#path = path;
    this.#kept = path !== null && existsSync(path) ? read(path) : { of, cpu: {}, gpu: {} };
    if (this.#kept.of !== of) throw new CommandError(`${path} holds what ${this.#kept.of} heard, not ${of}; remove it`);
  }

  get(device: "cpu" | "gpu", recording: string): string | undefined {
    return this.#kept[device][recording];
  }

  add(device: "cpu" | "gpu", recording: string, text: string): void {
    this.#kept[device][recording] = text;
    if (this.#path === null) return;
    writeFileSync(`${this.#path}.new`, `${JSON.stringify(this.#kept, null, 2)}\n`);
    renameSync(`${this.#path}.new`, this.#path);
  }
}

function read(path: string) {
  try {
    return Value.Parse(textsSchema, JSON.parse(readFileSync(path, "utf8")));
  } catch {
    throw new CommandError(`${path} holds nothing that scripts/evaluate devices has kept`);
  }
}
