import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { syncDirectoryNow, writeAll } from "../files/index.ts";
import { ExpectedError } from "../text/index.ts";

/** The data directory is a standby's, or its server was replaced, so nothing may be served or changed in it. */
export class InactiveDirectoryError extends ExpectedError {
  override readonly name = "InactiveDirectoryError";
}

/** Marks the data directory of a standby. `transcribe standby` may store further keys in it. */
const standbyMarkerSchema = Type.Object(
  {
    /** Address or directory of the server that the standby follows, without credentials. */
    from: Type.String(),
    /** Since when the standby follows it, in milliseconds since 1970. */
    since: Type.Number(),
    /** When the last whole transaction was applied; null before the first copy is complete. */
    appliedAt: Type.Union([Type.Number(), Type.Null()]),
    /** Whether a whole copy of the database and the files is there. */
    complete: Type.Boolean(),
    /** Id of the database that is copied, as far as the server told it. Only that one replaces the copy. */
    database: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    /** Set by a promotion before it opens the database: from then on the copy differs from the other server's database. */
    promoting: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: true },
);
export type StandbyMarker = Static<typeof standbyMarkerSchema>;

/** Marks the data directory of a server that another one has replaced. */
const replacedMarkerSchema = Type.Object({
  /** Epoch and host of the server that replaced it, and when it took over by that machine's clock. */
  epoch: Type.Number(),
  host: Type.String(),
  at: Type.Number(),
});
type ReplacedMarker = Static<typeof replacedMarkerSchema>;

/** The root of a data directory. */
interface Root {
  readonly root: string;
}

const standbyPath = ({ root }: Root) => join(root, "standby.json");
const replacedPath = ({ root }: Root) => join(root, "replaced.json");

/** Returns whether a data directory is a standby's. */
export function isStandby(directory: Root): boolean {
  return existsSync(standbyPath(directory));
}

/** Returns the marker of a standby's data directory; null for any other one. @throws {InactiveDirectoryError} if it is damaged */
export function readStandbyMarker(directory: Root): StandbyMarker | null {
  return read(standbyPath(directory), standbyMarkerSchema);
}

export function writeStandbyMarker(directory: Root, marker: StandbyMarker): void {
  write(standbyPath(directory), marker);
}

/** Makes the data directory of a standby, or of a server that was replaced, that of a server. */
export function removeMarkers(directory: Root): void {
  remove(replacedPath(directory));
  remove(standbyPath(directory));
}

/** Returns the marker of a data directory whose server was replaced; null for any other one. @throws {InactiveDirectoryError} if it is damaged */
export function readReplacedMarker(directory: Root): ReplacedMarker | null {
  return read(replacedPath(directory), replacedMarkerSchema);
}

/**
 * Stores that another server has taken over, so that nothing is ever served in the directory again.
 * @param isStored false: only the message is needed
 * @returns the message for the administrator
 */
export function noteReplaced(directory: Root, marker: ReplacedMarker, isStored: boolean): string {
  if (isStored) write(replacedPath(directory), marker);
  return replacedText(directory.root, marker);
}

/** @throws {InactiveDirectoryError} if nothing may be served or changed in a data directory; the message has the next step */
export function requireActive(directory: Root): void {
  const { root } = directory;
  const replaced = readReplacedMarker(directory);
  if (replaced !== null) throw new InactiveDirectoryError(replacedText(root, replaced));
  const standby = readStandbyMarker(directory);
  if (standby !== null) {
    throw new InactiveDirectoryError(
      `${root} is the data directory of a standby of ${standby.from}; to serve it or to change something in it, let it take over: transcribe promote`,
    );
  }
}

function replacedText(root: string, { epoch, host, at }: ReplacedMarker): string {
  return `the server of ${root} was replaced: ${host} took over at ${new Date(at).toISOString()} (epoch ${epoch}). Its data is out of date; to make this machine the standby: transcribe standby --replace. Only if ${host} never serves again: transcribe promote --force`;
}

function read<T extends TSchema>(path: string, schema: T): Static<T> | null {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
  try {
    const value: unknown = JSON.parse(text);
    if (Value.Check(schema, value)) return value;
  } catch {
    // The next line reports it.
  }
  throw new InactiveDirectoryError(`${path} is damaged; transcribe promote --force removes it`);
}

/** Replaces a file as a whole, so that a crash leaves the old or the new one. */
function write(path: string, marker: StandbyMarker | ReplacedMarker): void {
  const partial = `${path}.partial`;
  rmSync(partial, { force: true });
  const file = openSync(partial, "wx", 0o600);
  try {
    writeAll(file, new TextEncoder().encode(`${JSON.stringify(marker)}\n`));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(partial, path);
  syncDirectoryNow(dirname(path));
}

function remove(path: string): void {
  rmSync(path, { force: true });
  syncDirectoryNow(dirname(path));
}
