import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { ExpectedError } from "../text/index.ts";

/** The lease of the server that serves, as the fence stores it. */
const leaseRecordSchema = Type.Object({
  /** Increased by each promotion. The server of the greater epoch wins. */
  epoch: Type.Integer({ minimum: 1 }),
  /** The data directory of the holder, on its machine. */
  owner: Type.String({ pattern: "^[0-9a-f]{32}$" }),
  /** Id of the database that it serves; earlier versions wrote none. */
  database: Type.Optional(Type.String({ pattern: "^[0-9a-f]{32}$" })),
  /** Name of its machine, for people. */
  host: Type.String({ maxLength: 255, pattern: "^[^\\x00-\\x1f\\x7f]*$" }),
  /**
   * `waiting`: the lease of another server may still be valid, so the owner does not serve yet. `held`: the owner serves.
   * `released`: it has stopped.
   */
  state: Type.Union([Type.Literal("waiting"), Type.Literal("held"), Type.Literal("released")]),
  /** How long the lease is valid after a write, unless the owner writes again. */
  milliseconds: Type.Integer({ minimum: 1000, maximum: 60_000 }),
  /** When the owner wrote it by its own clock, in milliseconds since 1970; only for people. */
  at: Type.Integer({ minimum: 0, maximum: 8.64e15 }),
});
export type LeaseRecord = Static<typeof leaseRecordSchema>;

/** The fence can't be used; the message gives the reason. */
export class FenceError extends ExpectedError {
  override readonly name = "FenceError";
}

/** The content of a register at one time. Two reads without a write in between return equal versions. */
export interface Registered {
  /** Null if nothing was written yet. */
  readonly record: LeaseRecord | null;
  readonly version: string;
}

/**
 * A place for one record that several machines can write.
 * Each function fails while the place can't be reached.
 */
export interface LeaseRegister {
  /** Whether it may forget everything while servers use it. */
  readonly forgets: boolean;
  /** Returns the id of the place, which gets one with its first use. */
  identify(): Promise<string>;
  read(): Promise<Registered>;
  /** Writes a record if nobody has written since a read. @returns its version; null if somebody has */
  replace(version: string, record: LeaseRecord): Promise<string | null>;
  close(): Promise<void>;
}

/** Parses a record that another machine wrote. @throws {FenceError} */
export function parseLeaseRecord(text: string, place: string): LeaseRecord {
  try {
    const value: unknown = JSON.parse(text);
    if (Value.Check(leaseRecordSchema, value)) return value;
  } catch {
    // The next line reports it.
  }
  throw new FenceError(`${place} has no valid lease; was it written by another program?`);
}
