import { closeSync, constants, fstatSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Settings } from "../config/index.ts";
import { basePath } from "../http/index.ts";
import type { DataPaths } from "../storage/index.ts";

const runningSchema = Type.Object({
  pid: Type.Integer(),
  /** Of the program that runs, which may be another than the one that asks. */
  version: Type.String(),
  origin: Type.String(),
  /** The speech model that its settings name, which wins over a chosen one; empty: none. */
  modelSetting: Type.String(),
  /** The certificate that it shows, PEM; null where it speaks plain HTTP. */
  certificate: Type.Union([Type.String(), Type.Null()]),
});

/** What a server says of itself while it runs, in a file of its data directory. */
export type RunningServer = Static<typeof runningSchema>;

/** How long a server may take to answer: one that does not run is known at once, and a busy machine makes others late. */
const patienceMilliseconds = 10_000;

const pathOf = (directory: DataPaths) => join(directory.state, "server.json");

export function announceServer(directory: DataPaths, server: RunningServer): void {
  const path = pathOf(directory);
  writeFileSync(`${path}.new`, JSON.stringify(server), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

export function withdrawServer(directory: DataPaths): void {
  rmSync(pathOf(directory), { force: true });
}

/**
 * The server of a data directory, when one answers; null when none runs.
 * @param isTrusted whether the word of a user, by number, is taken on where the server is
 */
export async function findRunningServer(
  directory: DataPaths,
  isTrusted: (userId: number) => boolean = () => true,
): Promise<RunningServer | null> {
  let parsed: unknown;
  try {
    const note = readNote(pathOf(directory));
    if (!isTrusted(note.userId)) return null;
    parsed = JSON.parse(note.text);
  } catch {
    return null;
  }
  if (!Value.Check(runningSchema, parsed)) return null;
  const signal = AbortSignal.timeout(patienceMilliseconds);
  const answer = await fetch(`${parsed.origin}/healthz`, { signal, ...trustOf(parsed) }).catch(() => null);
  return answer?.ok === true ? parsed : null;
}

/** Part of what `fetch` takes. Bun's types leave out that a certificate may be believed without its authority. */
export interface ServerTrust {
  readonly tls?: BunFetchRequestInitTLS & { readonly allowPartialTrustChain: boolean };
}

function readNote(path: string): { readonly text: string; readonly userId: number } {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return { text: readFileSync(file, "utf8"), userId: fstatSync(file).uid };
  } finally {
    closeSync(file);
  }
}

/**
 * What `fetch` must be told to reach a running server: to believe the very certificate that the server noted in its data
 * directory, whoever signed it, and not to look for this machine's loopback address among its names.
 */
export function trustOf({ certificate }: RunningServer): ServerTrust {
  if (certificate === null) return {};
  return { tls: { ca: certificate, allowPartialTrustChain: true, checkServerIdentity: () => undefined } };
}

/** Where the API is: at an origin, or where the settings say that a server listens. */
export function baseUrlOf(server: string | Settings): string {
  const origin = typeof server === "string" ? server : originOf(server.server);
  return origin.replace(/\/+$/, "") + basePath;
}

/** An address that reaches a server listening there; one that listens everywhere is reached by loopback. */
export function originOf({ host, port, tls_certificate }: Settings["server"]): string {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `${tls_certificate === "" ? "http" : "https"}://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}
