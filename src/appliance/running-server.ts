import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Settings } from "../config/index.ts";
import { basePath } from "../http/index.ts";
import type { DataPaths } from "../storage/index.ts";

const runningSchema = Type.Object({
  pid: Type.Integer(),
  origin: Type.String(),
  /** The speech model that its settings name, which wins over a chosen one; empty: none. */
  modelSetting: Type.String(),
});

/** What a server says of itself while it runs, in a file of its data directory. */
export type RunningServer = Static<typeof runningSchema>;

const pathOf = (directory: DataPaths) => join(directory.state, "server.json");

export function announceServer(directory: DataPaths, server: RunningServer): void {
  writeFileSync(pathOf(directory), JSON.stringify(server), { mode: 0o600 });
}

export function withdrawServer(directory: DataPaths): void {
  rmSync(pathOf(directory), { force: true });
}

/** The server of a data directory, when one answers; null when none runs. */
export async function findRunningServer(directory: DataPaths): Promise<RunningServer | null> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(pathOf(directory), "utf8"));
  } catch {
    return null;
  }
  if (!Value.Check(runningSchema, parsed)) return null;
  const answer = await fetch(`${parsed.origin}/healthz`, { signal: AbortSignal.timeout(2000) }).catch(() => null);
  return answer?.ok === true ? parsed : null;
}

/** Where the API is: at an origin, or where the settings say that a server listens. */
export function baseUrlOf(server: string | Settings): string {
  const origin = typeof server === "string" ? server : originOf(server.server.host, server.server.port);
  return origin.replace(/\/+$/, "") + basePath;
}

/** An address that reaches a server listening there; one that listens everywhere is reached by loopback. */
export function originOf(host: string, port: number): string {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}
