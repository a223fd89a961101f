import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { gpuSchema } from "../../engine/index.ts";
import type { Failure } from "./attempt.ts";

const verdictSchema = Type.Object({
  /** File name of what was tried, or what it is called, for people who read the file. */
  library: Type.String(),
  /** Of a CPU variant ggml's rating for this CPU, 0: not for this CPU; of an encoder how many times as fast it is. */
  score: Type.Number({ minimum: 0 }),
  state: Type.Union([Type.Literal("untested"), Type.Literal("works"), Type.Literal("failed")]),
  /** Why it failed, else empty. */
  reason: Type.String(),
  /** When it lapses, in milliseconds since the epoch; without this it holds for ever. */
  holdsUntil: Type.Optional(Type.Number()),
});

/** What is known about something on this machine: a CPU variant, an encoder, a GPU. */
export type Verdict = Static<typeof verdictSchema>;

const foundGpuSchema = Type.Composite([
  gpuSchema,
  Type.Object({
    /** On the PCI bus; empty: that is not known. */
    address: Type.String(),
  }),
]);

/** A GPU as a backend found it. */
export type FoundGpu = Static<typeof foundGpuSchema>;

const fileSchema = Type.Object({
  version: Type.Literal(1),
  /** By a hash of the CPU, the model and the libraries. */
  verdicts: Type.Record(Type.String(), verdictSchema),
  /** What GPU backends found, by a hash of the CPU, the GPUs, their drivers and the libraries. */
  gpus: Type.Optional(Type.Record(Type.String(), Type.Array(foundGpuSchema))),
});
type Content = Static<typeof fileSchema>;

const dayMilliseconds = 86_400_000;

/** The verdict on something that failed; that it took too long holds for a day. @returns null where it failed by chance */
export function failureVerdict(library: string, { reason, lasting, late }: Failure): Verdict | null {
  if (!lasting && !late) return null;
  return {
    library,
    score: 0,
    state: "failed",
    reason,
    ...(lasting ? {} : { holdsUntil: Date.now() + dayMilliseconds }),
  };
}

/** Reads the verdicts; a file that is missing or not ours counts as none, since they can be found out again. */
export function readVerdicts(path: string): Record<string, Verdict> {
  const now = Date.now();
  const all = Object.entries(read(path).verdicts);
  return Object.fromEntries(all.filter(([, { holdsUntil = Number.POSITIVE_INFINITY }]) => now < holdsUntil));
}

/** The GPUs that a backend found; undefined where nothing is kept of it. */
export function readGpus(path: string, key: string): readonly FoundGpu[] | undefined {
  return read(path).gpus?.[key];
}

function read(path: string): Content {
  try {
    return parse(readFileSync(path, "utf8")) ?? { version: 1, verdicts: {} };
  } catch {
    return { version: 1, verdicts: {} };
  }
}

/** Whether a text is what a file of verdicts holds. */
export function areVerdicts(text: string): boolean {
  return parse(text) !== null;
}

function parse(text: string): Content | null {
  try {
    const content: unknown = JSON.parse(text);
    return Value.Check(fileSchema, content) ? content : null;
  } catch {
    return null;
  }
}

/**
 * Adds verdicts to those that the file holds by now. A reader never sees half a file, and models that are tried at the same
 * time don't overwrite each other's verdicts.
 */
export function addVerdicts(path: string, verdicts: Record<string, Verdict>): void {
  const content = read(path);
  write(path, { ...content, verdicts: { ...content.verdicts, ...verdicts } });
}

/** Keeps what a GPU backend found. */
export function keepGpus(path: string, key: string, gpus: readonly FoundGpu[]): void {
  const content = read(path);
  write(path, { ...content, gpus: { ...content.gpus, [key]: [...gpus] } });
}

function write(path: string, content: Content): void {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, `${JSON.stringify(content, null, 2)}\n`);
  renameSync(temporary, path);
}
