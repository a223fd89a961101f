import type { Duplex } from "node:stream";
import { programVersion } from "../program/index.ts";
import type { DataPaths } from "../storage/index.ts";
import { Channel, type Message } from "./channel.ts";
import { listFiles } from "./data-files.ts";
import { DatabaseCopy } from "./database-copy.ts";
import { FileCopy } from "./file-copy.ts";
import {
  type FileEntry,
  kinds,
  MAX_ENTRIES,
  PIECE_BYTES,
  PROTOCOL_VERSION,
  ProtocolError,
  readContent,
  readServerMessage,
  type ServerMessage,
  type StandbyMessage,
} from "./messages.ts";
import type { Phase } from "./session.ts";

const ALIVE_MILLISECONDS = 1_000;
/** Time without a message after which the server counts as gone. It sends one each second. */
const SILENT_MILLISECONDS = 30_000;

/** Bytes of files after which the server learns that they are written. */
const REPORT_BYTES = PIECE_BYTES / 2;

/** State of a connection with the server, as the server reports it. */
export interface FollowedState {
  readonly phase: Phase;
  readonly behindBytes: number;
  readonly delayMilliseconds: number;
}

interface FollowOptions {
  readonly paths: DataPaths;
  readonly onState: (state: FollowedState) => void;
  /** Called with each message of the server. */
  readonly onContact: () => void;
  /** Called with the id of the server's database before anything is copied. An error ends the connection. */
  readonly onDatabase: (id: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Copies a server's data on one connection, until that ends.
 * @throws the reason why it ended
 */
export async function follow(stream: Duplex, options: FollowOptions): Promise<void> {
  const { paths, signal } = options;
  const channel = new Channel<StandbyMessage>(stream);
  const stop = () => channel.destroy();
  signal.addEventListener("abort", stop, { once: true });
  using database = new DatabaseCopy(paths);
  let reportedBytes = 0;
  const files = new FileCopy(paths, (bytes) => {
    if (bytes < reportedBytes + REPORT_BYTES) return;
    reportedBytes = bytes;
    channel.send({ type: "stored", bytes }).catch(stop);
  });
  const alive = setInterval(() => {
    if (performance.now() - channel.lastArrivalAt > SILENT_MILLISECONDS) channel.destroy();
    channel.send({ type: "alive" }).catch(stop);
  }, ALIVE_MILLISECONDS);
  try {
    signal.throwIfAborted();
    await introduce(channel, database, paths);
    for await (const message of channel.messages()) {
      options.onContact();
      await receive(message, { channel, database, files, options }).catch(async (error: unknown) => {
        // The server logs the reason. After this loop the connection is closed.
        const reason = error instanceof Error ? error.message.slice(0, 500) : "";
        await channel.send({ type: "failed", reason }).catch(() => {});
        await channel.end();
        throw error;
      });
    }
    throw new Error("the server closed the connection");
  } finally {
    clearInterval(alive);
    signal.removeEventListener("abort", stop);
    channel.destroy();
    await files.close();
  }
}

async function introduce(channel: Channel<StandbyMessage>, database: DatabaseCopy, paths: DataPaths): Promise<void> {
  const { position } = database;
  await channel.send({ type: "hello", protocol: PROTOCOL_VERSION, version: programVersion, position });
  let entries: FileEntry[] = [];
  for (const lane of ["urgent", "bulk"] as const) {
    for await (const entry of listFiles(paths, lane)) {
      entries.push(entry);
      if (entries.length < MAX_ENTRIES) continue;
      await channel.send({ type: "have", entries });
      entries = [];
    }
  }
  await channel.send({ type: "have", entries });
  await channel.send({ type: "haveAll" });
}

interface Receiver {
  readonly channel: Channel<StandbyMessage>;
  readonly database: DatabaseCopy;
  readonly files: FileCopy;
  readonly options: FollowOptions;
}

async function receive({ kind, body }: Message, receiver: Receiver): Promise<void> {
  const { database, files } = receiver;
  switch (kind) {
    case kinds.json:
      return await obey(readServerMessage(body), receiver);
    case kinds.logHeader:
      return database.beginLog(body);
    case kinds.logFrames:
      return database.append(body);
    case kinds.block:
      if (body.length < 4) throw new ProtocolError("a block has no number");
      return database.writeBlock(body.readUInt32BE(0), body.subarray(4));
    case kinds.content:
      return await files.write(readContent(body));
    default:
      throw new ProtocolError(`the server sent a message of kind ${kind}`);
  }
}

async function obey(message: ServerMessage, { channel, database, files, options }: Receiver): Promise<void> {
  switch (message.type) {
    case "welcome":
      if (message.protocol !== PROTOCOL_VERSION) throw new ProtocolError("the server has another protocol");
      if (message.database !== null) options.onDatabase(message.database);
      return;
    case "refused":
      throw new Error(`the server refused this standby: ${message.reason}`);
    case "snapshot":
      await database.beginSnapshot(message.bytes);
      return await sendDigests(channel, database);
    case "snapshotEnd":
      return await database.endSnapshot();
    case "file":
      return await files.begin(message.number, message.appendTo, message.from);
    case "fileEnd":
      return await files.end(message.number, message.entry);
    case "remove":
      return await files.remove(message.path);
    case "logEmptied":
      return database.emptyLog();
    case "sync":
      await files.sync();
      database.sync();
      return await channel.send({ type: "synced", number: message.number });
    case "status":
      return options.onState(message);
  }
}

async function sendDigests(channel: Channel<StandbyMessage>, database: DatabaseCopy): Promise<void> {
  let waiting: Buffer[] = [];
  let bytes = 0;
  for (const digest of database.digests()) {
    waiting.push(digest);
    bytes += digest.length;
    if (bytes < PIECE_BYTES) continue;
    await channel.sendBytes(kinds.digests, ...waiting);
    [waiting, bytes] = [[], 0];
  }
  if (waiting.length > 0) await channel.sendBytes(kinds.digests, ...waiting);
  await channel.send({ type: "digestsEnd" });
}
