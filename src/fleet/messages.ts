import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { MACHINE_PATTERN } from "./machine-names.ts";

/** The messages between the coordinator and the workers of a fleet, and the subjects that carry them. */

/** Maximum size of a message: a block of PCM and the block files that an operation needs, with room to spare. */
export const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;

/** Interval of the messages in which workers report that they are present. */
export const PRESENCE_MILLISECONDS = 3000;

/**
 * Returns the work-queue stream of a pool; it exists in memory only, so that no audio reaches a disk. Each pool has its
 * own, because who may fetch from a stream, or acknowledge its messages, can get all of them.
 * @param pool empty: the stream of the machines with certificates of their own
 */
export function streamOf(pool: string): string {
  return pool === "" ? "TRANSCRIBE_WORK" : `TRANSCRIBE_WORK_${pool}`;
}

/** Memory for the operations of the machines with certificates of their own; the coordinator publishes few at a time. */
const STREAM_BYTES = 1024 * 1024 * 1024;
/** Memory for the operations of a pool. The broker reserves it, so that no pool takes the memory of another one. */
export const POOL_STREAM_BYTES = 512 * 1024 * 1024;
/** Maximum number of pools of a fleet. */
export const MAX_POOLS = 16;
/** Memory for the operations of a fleet. It does not depend on its pools, because a broker cannot change it by a reload. */
export const ALL_STREAMS_BYTES = STREAM_BYTES + MAX_POOLS * POOL_STREAM_BYTES;

/** Returns the memory for the operations in a pool's stream. */
export function streamBytesOf(pool: string): number {
  return pool === "" ? STREAM_BYTES : POOL_STREAM_BYTES;
}

const SUBJECT_ROOT = "transcribe";
export const subjects = {
  /** All operations in the stream of a pool. @param pool empty: of the machines with certificates of their own */
  allWork: (pool: string) => (pool === "" ? `${SUBJECT_ROOT}.work.>` : `${SUBJECT_ROOT}.pool.${pool}.>`),
  /** Operations of one build; `model` is the digest of the speech model that they need, or `none`. */
  work: (pool: string, build: string, model: string) =>
    pool === "" ? `${SUBJECT_ROOT}.work.${build}.${model}` : `${SUBJECT_ROOT}.pool.${pool}.${build}.${model}`,
  /**
   * Requests of workers: may this operation start? The broker lets a machine publish only subjects that end with its own
   * name, or with its pool's name and one more token, so that a worker cannot speak for another one.
   */
  started: (coordinator: string, machine: string) => `${SUBJECT_ROOT}.started.${coordinator}.${machine}`,
  allStarted: `${SUBJECT_ROOT}.started.>`,
  /** Requests of workers: here is a result. */
  result: (coordinator: string, machine: string) => `${SUBJECT_ROOT}.result.${coordinator}.${machine}`,
  allResults: `${SUBJECT_ROOT}.result.>`,
  cancel: (coordinator: string) => `${SUBJECT_ROOT}.cancel.${coordinator}`,
  allCancels: `${SUBJECT_ROOT}.cancel.>`,
  presence: (machine: string) => `${SUBJECT_ROOT}.presence.${machine}`,
  allPresence: `${SUBJECT_ROOT}.presence.*`,
  /** A nats.conf of a version without pools does not let the coordinator receive these. */
  allPoolPresence: `${SUBJECT_ROOT}.presence.*.*`,
  /** Requests of `transcribe fleet status` to the coordinator's server. */
  status: (machine: string) => `${SUBJECT_ROOT}.status.${machine}`,
  allStatus: `${SUBJECT_ROOT}.status.*`,
} as const;

/** Returns the durable consumer that all workers of a stream share for a subject of work. */
export function consumerOf(build: string, model: string): string {
  return `work-${build}-${model}`;
}

/**
 * Returns the machine that published a message.
 * @param tokens number of tokens of the subject before the machine's name
 */
export function senderOf(subject: string, tokens: number): string {
  return subject.split(".").slice(tokens).join(".");
}

const token = Type.String({ pattern: "^[\\w-]{1,100}$" });
const machine = Type.String({ pattern: MACHINE_PATTERN });
const count = Type.Integer({ minimum: 0 });
const digest = Type.String({ pattern: "^[0-9a-f]{64}$" });

const text = Type.String({ maxLength: 4000 });

const itemSchema = Type.Union([
  Type.Object({ kind: Type.Literal("pcm"), firstSample: count, sampleCount: count }),
  Type.Object({
    kind: Type.Union([Type.Literal("activity"), Type.Literal("embeddings"), Type.Literal("sentences")]),
    block: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
  }),
]);

/** Items of a work area that follow the header, in this order. */
const attachments = Type.Array(Type.Object({ item: itemSchema, bytes: count }), { maxItems: 1000 });

export const workSchema = Type.Object({
  /** Unique for each publication, so that the result of an earlier one is recognized as late. */
  id: token,
  coordinator: token,
  operation: Type.Union(
    (
      [
        "detectBlock",
        "detectLanguage",
        "transcribe",
        "translate",
        "embedBlock",
        "embedSentences",
        "transcribeLive",
        "detectSpeech",
        "embedSpeech",
        "detectLiveLanguage",
      ] as const
    ).map((name) => Type.Literal(name)),
  ),
  /** The operation's parameters without paths: `area` and `model` are the worker's own. */
  params: Type.Record(Type.String(), Type.Unknown()),
  sampleCount: count,
  /** SHA-256 of the speech model; null if the operation needs none. */
  model: Type.Union([digest, Type.Null()]),
  /** Whether the recording uses the ONNX form of the model's encoder. */
  usesEncoder: Type.Boolean(),
  attachments,
});
export type Work = Static<typeof workSchema>;

export const startedSchema = Type.Object({
  id: token,
  /** Whether it starts now. Otherwise it was fetched ahead and waits for a lane, which counts no attempt. */
  starts: Type.Boolean(),
  /** 1, or more if an earlier worker did not finish the operation. */
  delivery: Type.Integer({ minimum: 1 }),
});
export type Started = Static<typeof startedSchema>;

export const resultSchema = Type.Object({
  id: token,
  outcome: Type.Union([
    Type.Object({ type: Type.Literal("done"), result: Type.Unknown() }),
    Type.Object({ type: Type.Literal("failed"), message: text, code: Type.String({ maxLength: 100 }) }),
    // The worker's own engine gave the operation up.
    Type.Object({ type: Type.Literal("crashed"), message: text }),
    Type.Object({ type: Type.Literal("stalled"), message: text }),
    Type.Object({ type: Type.Literal("killed"), message: text }),
    // The machine cannot run operations now, e.g. because its disk is full.
    Type.Object({ type: Type.Literal("unable"), message: text }),
  ]),
  device: Type.String({ maxLength: 100 }),
  gpu: Type.String({ maxLength: 100 }),
  seconds: Type.Number({ minimum: 0 }),
  attachments,
});
export type WorkResult = Static<typeof resultSchema>;

export const cancelSchema = Type.Object({ id: token });

/** The coordinator's answer to a request of a worker. */
export const replySchema = Type.Object({
  /**
   * `go`: the request counts. `late`: nobody waits for this operation of this machine any more. `refused`: the message is
   * invalid. `paused`: the machine gets no operations for a while, and returns this one.
   */
  verdict: Type.Union([Type.Literal("go"), Type.Literal("late"), Type.Literal("refused"), Type.Literal("paused")]),
});
export type Reply = Static<typeof replySchema>;

/** Maximum number of operations that a worker lists as its own. */
export const MAX_HELD = 100;

export const presenceSchema = Type.Object({
  machine,
  /** Unique for each start of the worker; a later start has a greater one. */
  instance: token,
  version: Type.String({ maxLength: 100 }),
  build: token,
  /** Digests of the speech models that it can use. */
  models: Type.Array(digest, { maxItems: 100 }),
  devices: Type.Array(Type.String({ maxLength: 200 }), { maxItems: 100 }),
  lanes: Type.Integer({ minimum: 0, maximum: 1000 }),
  busy: count,
  /** Ids of operations that it has fetched. They name a machine that cannot report them in another way. */
  holds: Type.Optional(Type.Array(token, { maxItems: MAX_HELD })),
  /** The worker's clock, in milliseconds since 1970. */
  clock: Type.Number(),
  /** Why it takes no work; null if it does. */
  trouble: Type.Union([Type.String({ maxLength: 1000 }), Type.Null()]),
  /** Whether it is about to leave the fleet. */
  leaves: Type.Boolean(),
});
export type Presence = Static<typeof presenceSchema>;

/** The coordinator's answer to `transcribe fleet status`. */
export const coordinatorStatusSchema = Type.Object({
  version: Type.String({ maxLength: 100 }),
  build: token,
  /** Digests of the speech models that operations may need. */
  models: Type.Array(digest, { maxItems: 1000 }),
  workHere: Type.Boolean(),
  /** Machines that get no operations for a while, and why. */
  paused: Type.Array(Type.Object({ machine, reason: text }), { maxItems: 1000 }),
  /** Operations that wait, that the broker or a worker has, and that run on the coordinator's machine. */
  load: Type.Object({ waiting: count, published: count, here: count }),
  /** Since the coordinator's start. */
  counts: Type.Object({
    published: count,
    redelivered: count,
    lateResults: count,
    refusedResults: count,
    unreported: count,
    sentBytes: count,
    receivedBytes: count,
  }),
});
export type CoordinatorStatus = Static<typeof coordinatorStatusSchema>;

/** A message that does not match its schema or its own lengths. */
export class MessageError extends Error {
  override readonly name = "MessageError";
}

type Attached = { readonly attachments: readonly { readonly bytes: number }[] };

/**
 * Makes a message without the contents of its attachments: the header's length in four bytes, the header as JSON, and
 * the places of the attachments.
 * @param sizes of the attachments, in bytes
 */
export function layOut(
  header: Attached,
  sizes: readonly number[],
): { readonly message: Uint8Array; readonly places: readonly Uint8Array[] } {
  const head = new TextEncoder().encode(JSON.stringify(header));
  const total = sizes.reduce((sum, bytes) => sum + bytes, 4 + head.length);
  const message = new Uint8Array(total);
  new DataView(message.buffer).setUint32(0, head.length, true);
  message.set(head, 4);
  const places: Uint8Array[] = [];
  let at = 4 + head.length;
  for (const bytes of sizes) {
    places.push(message.subarray(at, at + bytes));
    at += bytes;
  }
  return { message, places };
}

/** Unpacks and checks a message. @throws {MessageError} */
export function unpack<T extends TSchema>(
  schema: T,
  message: Uint8Array,
): { readonly header: Static<T>; readonly contents: readonly Uint8Array[] } {
  if (message.length < 4) throw new MessageError("the message is too short");
  const length = new DataView(message.buffer, message.byteOffset).getUint32(0, true);
  if (length > message.length - 4) throw new MessageError("the message is shorter than its header");
  const header = parse(schema, message.subarray(4, 4 + length)) as Static<T> & Attached;
  const contents: Uint8Array[] = [];
  let at = 4 + length;
  for (const { bytes } of header.attachments) {
    if (bytes > message.length - at) throw new MessageError("the message is shorter than its attachments");
    contents.push(message.subarray(at, at + bytes));
    at += bytes;
  }
  if (at !== message.length) throw new MessageError("the message is longer than its attachments");
  return { header, contents };
}

/** Packs a message without attachments. */
export function encode(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

/** Parses and checks a message without attachments. @throws {MessageError} */
export function parse<T extends TSchema>(schema: T, bytes: Uint8Array): Static<T> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new MessageError("the message is not JSON");
  }
  if (Value.Check(schema, value)) return value;
  const first = Value.Errors(schema, value).First();
  throw new MessageError(`the message does not match its schema at ${first?.path || "/"}: ${first?.message ?? ""}`);
}
