import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { DataPaths } from "../storage/index.ts";

const amount = Type.Integer({ minimum: 0 });
const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(type: T) => Type.Union([Type.Null(), type]);

/** Age up to which a status counts: a process that runs writes one each second. */
const CURRENT_MILLISECONDS = 10_000;

/** A server or its standby writes this about the copy each second. */
const statusSchema = Type.Object({
  role: Type.Union([Type.Literal("server"), Type.Literal("standby")]),
  pid: amount,
  /** Time of this status, in milliseconds since the epoch. */
  writtenAt: amount,
  version: Type.String(),
  /** The server that a standby follows, or the name of the standby of a server; null for none. */
  from: nullable(Type.String()),
  phase: Type.Union([
    Type.Literal("none"),
    Type.Literal("connecting"),
    Type.Literal("files"),
    Type.Literal("snapshot"),
    Type.Literal("following"),
  ]),
  /** Whether the standby has had a whole copy of the database, with which it can take over. */
  isComplete: Type.Boolean(),
  /** Time of the last message of the other machine, in milliseconds since the epoch. */
  lastContactAt: nullable(amount),
  behindBytes: nullable(amount),
  delaySeconds: nullable(Type.Number({ minimum: 0 })),
});
export type StandbyStatus = Static<typeof statusSchema>;

const pathOf = ({ state }: DataPaths) => join(state, "standby.json");

export function writeStatus(paths: DataPaths, status: Omit<StandbyStatus, "writtenAt">, now: number): void {
  const path = pathOf(paths);
  writeFileSync(`${path}.new`, `${JSON.stringify({ ...status, writtenAt: now })}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** Returns what was written last; null if there is nothing. */
export function readStatus(paths: DataPaths): StandbyStatus | null {
  try {
    const status: unknown = JSON.parse(readFileSync(pathOf(paths), "utf8"));
    return Value.Check(statusSchema, status) ? status : null;
  } catch {
    return null;
  }
}

/** Returns the status of a process that runs; null if none does. @param now in milliseconds since the epoch */
export function readCurrentStatus(paths: DataPaths, now: number): StandbyStatus | null {
  const status = readStatus(paths);
  return status !== null && Math.abs(now - status.writtenAt) < CURRENT_MILLISECONDS ? status : null;
}
