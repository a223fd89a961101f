import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

/** Version of the protocol between a server and its standby. Other versions are refused. */
export const PROTOCOL_VERSION = 1;

/** Size of the parts in which a database and files are sent. */
export const PIECE_BYTES = 256 * 1024;
/** Size of the parts of a database whose digests are compared. */
export const BLOCK_BYTES = 64 * 1024;
export const DIGEST_BYTES = 16;
/** Maximum size of a message. */
export const MAX_MESSAGE_BYTES = 1024 * 1024 + 64;
/** Entries of one message `have`. */
export const MAX_ENTRIES = 1000;

/** Kinds of messages; all but `json` are bytes. */
export const kinds = {
  json: 0,
  /** Header of a new generation of the database's log. */
  logHeader: 1,
  /** Whole frames of the log, which follow those before. */
  logFrames: 2,
  /** Digests of blocks of the standby's database, which follow those before. */
  digests: 3,
  /** Number of a block of the database, and its content. */
  block: 4,
  /** Content of a file: the number of the file in four bytes, the position in six, and the bytes. */
  content: 5,
} as const;

/** Length of the number and the position before the content of a file. */
const CONTENT_HEAD_BYTES = 10;

const word = Type.Integer({ minimum: 0, maximum: 0xffffffff });
const amount = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const path = Type.String({ maxLength: 400 });
const nullable = <T extends TSchema>(type: T) => Type.Union([Type.Null(), type]);

export const positionSchema = Type.Object({
  salt: Type.String({ pattern: "^[0-9a-f]{16}$" }),
  frames: word,
  sum: Type.Tuple([word, word]),
});

/** A file: its path below the data directory, its size and its time of change in milliseconds. */
const entrySchema = Type.Object({ path, bytes: amount, changedAt: amount });
export type FileEntry = Static<typeof entrySchema>;

/** Messages of a standby to its server. */
const fromStandby = Type.Union([
  Type.Object({
    type: Type.Literal("hello"),
    protocol: Type.Integer(),
    version: Type.String({ maxLength: 64 }),
    /** End of its copy of the log; null if it has none. */
    position: nullable(positionSchema),
  }),
  /** Files that it has. */
  Type.Object({ type: Type.Literal("have"), entries: Type.Array(entrySchema, { maxItems: MAX_ENTRIES }) }),
  Type.Object({ type: Type.Literal("haveAll") }),
  /** It has sent the digests of all blocks. */
  Type.Object({ type: Type.Literal("digestsEnd") }),
  /** Everything before the message `sync` with this number is durable. */
  Type.Object({ type: Type.Literal("synced"), number: amount }),
  /** Bytes of the content of files that it has written since the connection began. */
  Type.Object({ type: Type.Literal("stored"), bytes: amount }),
  Type.Object({ type: Type.Literal("alive") }),
  /** It cannot continue, such as for lack of disk space. */
  Type.Object({ type: Type.Literal("failed"), reason: Type.String({ maxLength: 500 }) }),
]);
export type StandbyMessage = Static<typeof fromStandby>;

/** Messages of a server to its standby. */
const fromServer = Type.Union([
  Type.Object({
    type: Type.Literal("welcome"),
    protocol: Type.Integer(),
    version: Type.String({ maxLength: 64 }),
    /** Id of the database; null if it has none. */
    database: nullable(Type.String({ pattern: "^[0-9a-f]{32}$" })),
  }),
  Type.Object({ type: Type.Literal("refused"), reason: Type.String({ maxLength: 500 }) }),
  /** A copy of the whole database follows. */
  Type.Object({ type: Type.Literal("snapshot"), bytes: amount }),
  Type.Object({ type: Type.Literal("snapshotEnd") }),
  /**
   * The content of a file follows, between other messages. Its name comes at the end, because an upload has none before.
   * If `appendTo` is a path, bytes follow that are appended to the first `from` bytes of that file.
   */
  Type.Object({ type: Type.Literal("file"), number: word, appendTo: nullable(path), from: amount }),
  /** The content is complete; null if it must be dropped, because the file was changed or removed meanwhile. */
  Type.Object({ type: Type.Literal("fileEnd"), number: word, entry: nullable(entrySchema) }),
  Type.Object({ type: Type.Literal("remove"), path }),
  /** The server has copied its log to the database and emptied it, so no deleted data is left in it. */
  Type.Object({ type: Type.Literal("logEmptied") }),
  Type.Object({ type: Type.Literal("sync"), number: amount }),
  Type.Object({
    type: Type.Literal("status"),
    phase: Type.Union([Type.Literal("files"), Type.Literal("snapshot"), Type.Literal("following")]),
    behindBytes: amount,
    delayMilliseconds: amount,
  }),
]);
export type ServerMessage = Static<typeof fromServer>;

/** The other machine does not keep to the protocol. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}

/** @throws {ProtocolError} */
export const readStandbyMessage = (body: Buffer): StandbyMessage => read(fromStandby, body);

/** @throws {ProtocolError} */
export const readServerMessage = (body: Buffer): ServerMessage => read(fromServer, body);

function read<T extends TSchema>(schema: T, body: Buffer): Static<T> {
  let message: unknown;
  try {
    message = JSON.parse(body.toString());
  } catch {
    throw new ProtocolError("a message is no JSON");
  }
  if (!Value.Check(schema, message)) throw new ProtocolError("a message has an unknown form");
  return message;
}

/** A part of the content of a file. */
export interface Content {
  readonly number: number;
  readonly position: number;
  readonly bytes: Buffer;
}

/** Returns what precedes the bytes of a file in a message. */
export function contentHead(number: number, position: number): Buffer {
  const head = Buffer.alloc(CONTENT_HEAD_BYTES);
  head.writeUInt32BE(number);
  head.writeUIntBE(position, 4, 6);
  return head;
}

/** @throws {ProtocolError} */
export function readContent(body: Buffer): Content {
  if (body.length < CONTENT_HEAD_BYTES) throw new ProtocolError("content has no number");
  return {
    number: body.readUInt32BE(0),
    position: body.readUIntBE(4, 6),
    bytes: body.subarray(CONTENT_HEAD_BYTES),
  };
}
