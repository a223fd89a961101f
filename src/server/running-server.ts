import { closeSync, constants, fstatSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Settings } from "../config/index.ts";
import { basePath } from "../http/index.ts";
import type { DataPaths } from "../storage/index.ts";

const runningSchema = Type.Object({
  pid: Type.Integer(),
  /** Version of the running program, which may differ from the caller's. */
  version: Type.String(),
  origin: Type.String(),
  /** Speech model named in its settings, which takes precedence over a chosen one; empty if none. */
  modelSetting: Type.String(),
  /** Its current certificate, PEM; null if it uses plain HTTP. */
  certificate: Type.Union([Type.String(), Type.Null()]),
});

/** The server state file in the data directory of a running server. */
export type RunningServer = Static<typeof runningSchema>;

/**
 * Time limit for a server's response. A server that is not running is detected at once; a busy machine makes others
 * slow.
 */
const patienceMilliseconds = 10_000;

const pathOf = (directory: DataPaths) => join(directory.state, "server.json");

export function writeServerState(directory: DataPaths, server: RunningServer): void {
  const path = pathOf(directory);
  writeFileSync(`${path}.new`, JSON.stringify(server), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

export function removeServerState(directory: DataPaths): void {
  rmSync(pathOf(directory), { force: true });
}

/**
 * Returns the server of a data directory if it responds; null if none is running.
 * @param isTrusted whether a state file written by this user, by number, is trusted
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

/** Part of the options of `fetch`. Bun's types omit the option to trust a certificate without its authority. */
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
 * Returns the options with which `fetch` reaches a running server. They trust exactly the certificate in the server
 * state file, whoever signed it. They skip the host name check, because the certificate need not name the loopback
 * address.
 */
export function trustOf({ certificate }: RunningServer): ServerTrust {
  if (certificate === null) return {};
  return { tls: { ca: certificate, allowPartialTrustChain: true, checkServerIdentity: () => undefined } };
}

/** Returns the base URL of the API, from an origin or from the settings of a server. */
export function baseUrlOf(server: string | Settings): string {
  const origin = typeof server === "string" ? server : originOf(server.server);
  return origin.replace(/\/+$/, "") + basePath;
}

/**
 * Returns an origin that reaches a server with these settings; one that listens on all addresses is reached by
 * loopback.
 */
export function originOf({ host, port, tls_certificate }: Settings["server"]): string {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `${tls_certificate === "" ? "http" : "https"}://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}
