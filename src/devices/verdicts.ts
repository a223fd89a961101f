import { dlopen, FFIType } from "bun:ffi";
import { createHash, type Hash } from "node:crypto";
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { gpuSchema } from "../operations/index.ts";
import { tuningSchema } from "./lane-shares.ts";
import type { Failure } from "./run-self-test.ts";

const verdictSchema = Type.Object({
  /** File name or name of the tested object, for people who read the file. */
  library: Type.String(),
  /** For a CPU variant, ggml's rating for this CPU, 0 if it is not supported. For an encoder, its speedup. */
  score: Type.Number({ minimum: 0 }),
  state: Type.Union([Type.Literal("untested"), Type.Literal("works"), Type.Literal("failed")]),
  /** Reason of the failure; otherwise empty. */
  reason: Type.String(),
  /** How an encoder computes, for people. */
  form: Type.Optional(Type.String()),
  /** Expiry in milliseconds since the epoch; without it, the verdict never expires. */
  holdsUntil: Type.Optional(Type.Number()),
});

/** Self-test result for a CPU variant, an encoder or a GPU on this machine. */
export type Verdict = Static<typeof verdictSchema>;

const foundGpuSchema = Type.Composite([
  gpuSchema,
  Type.Object({
    /** Address on the PCI bus; empty if unknown. */
    address: Type.String(),
  }),
]);

/** A GPU as reported by a backend. */
export type FoundGpu = Static<typeof foundGpuSchema>;

const fileSchema = Type.Object({
  version: Type.Literal(1),
  /** Verdicts by a hash of the CPU, the model and the libraries. */
  verdicts: Type.Record(Type.String(), verdictSchema),
  /** GPUs that backends found, by a hash of the CPU, the GPUs, their drivers and the libraries. */
  gpus: Type.Optional(Type.Record(Type.String(), Type.Array(foundGpuSchema))),
  /** Measured lanes, see tunings.ts. */
  tunings: Type.Optional(Type.Record(Type.String(), tuningSchema)),
});
type Content = Static<typeof fileSchema>;

const DAY_MILLISECONDS = 86_400_000;

/** Returns the key of a verdict: a digest of everything that the verdict depends on. */
export function verdictKey(dependencies: readonly unknown[]): string {
  return shortDigest(createHash("sha256").update(JSON.stringify(dependencies)));
}

/** Returns the digest as verdict keys have it. */
export function shortDigest(hash: Hash): string {
  return hash.digest("hex").slice(0, 32);
}

/**
 * Returns the verdict on a failure, which expires after a day if the test was late; null if the failure may not recur.
 */
export function failureVerdict(library: string, { reason, lasting, late }: Failure): Verdict | null {
  if (!lasting && !late) return null;
  const verdict: Verdict = { library, score: 0, state: "failed", reason };
  return lasting ? verdict : { ...verdict, holdsUntil: Date.now() + DAY_MILLISECONDS };
}

/** Returns the verdicts that have not expired. A missing or invalid file counts as empty: self-tests can run again. */
export function readVerdicts(path: string): Record<string, Verdict> {
  const now = Date.now();
  const all = Object.entries(readDevices(path).verdicts);
  return Object.fromEntries(all.filter(([, { holdsUntil = Number.POSITIVE_INFINITY }]) => now < holdsUntil));
}

/** Returns the stored GPUs of a backend; undefined if none are stored. */
export function readGpus(path: string, key: string): readonly FoundGpu[] | undefined {
  return readDevices(path).gpus?.[key];
}

/** Returns whether a text is a valid verdicts file. */
export function areVerdicts(text: string): boolean {
  return parse(text) !== null;
}

/** Adds verdicts to the file. */
export function addVerdicts(path: string, verdicts: Record<string, Verdict>): void {
  if (Object.keys(verdicts).length === 0) return;
  updateDevices(path, (content) => ({ ...content, verdicts: { ...content.verdicts, ...verdicts } }));
}

/** Stores the GPUs that a backend found. */
export function storeGpus(path: string, key: string, gpus: readonly FoundGpu[]): void {
  updateDevices(path, (content) => ({ ...content, gpus: { ...content.gpus, [key]: [...gpus] } }));
}

/** Returns the stored content. A missing or invalid file counts as empty. */
export function readDevices(path: string): Content {
  try {
    return parse(readFileSync(path, "utf8")) ?? { version: 1, verdicts: {} };
  } catch {
    return { version: 1, verdicts: {} };
  }
}

function parse(text: string): Content | null {
  try {
    const content: unknown = JSON.parse(text);
    return Value.Check(fileSchema, content) ? content : null;
  } catch {
    return null;
  }
}

/** Replaces the content under a lock, so that no process loses the update of another. Readers see no partial file. */
export function updateDevices(path: string, change: (content: Content) => Content): void {
  mkdirSync(dirname(path), { recursive: true });
  const directory = openSync(dirname(path), "r");
  try {
    lock(directory);
    const temporary = `${path}.${process.pid}`;
    writeFileSync(temporary, `${JSON.stringify(change(readDevices(path)), null, 2)}\n`);
    renameSync(temporary, path);
  } finally {
    // Closing releases the lock, as does the end of the process.
    closeSync(directory);
  }
}

/** Waits for the exclusive lock of an open directory (flock(2)). A file system without locks leaves it unlocked. */
function lock(descriptor: number): void {
  const exclusive = 2;
  const libc = dlopen("libc.so.6", { flock: { args: [FFIType.i32, FFIType.i32], returns: FFIType.i32 } });
  libc.symbols.flock(descriptor, exclusive);
  libc.close();
}
