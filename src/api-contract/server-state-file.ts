import { closeSync, constants, fstatSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Settings } from "../config/index.ts";
import { machineTrouble } from "../disk/index.ts";
import type { DataPaths } from "../storage/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";
import { basePath } from "./resources.ts";

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

/** Time limit for a server's response. A server that is not running is detected at once, but a busy one is slow. */
const RESPONSE_MILLISECONDS = 10_000;

const pathOf = (directory: DataPaths) => join(directory.state, "server.json");

/** The server state file in the data directory. A write that failed is repeated until it succeeds. */
export class ServerStateFile {
  readonly #path: string;
  readonly #log: Logger;
  /** The state that could not be written; null if the file is current. */
  #unwritten: RunningServer | null = null;

  constructor(directory: DataPaths, log: Logger) {
    this.#path = pathOf(directory);
    this.#log = log;
  }

  /**
   * Writes the file. If the disk is full, commands on this machine do not find the server, or its new certificate,
   * until a retry succeeds.
   */
  write(server: RunningServer): void {
    try {
      writeFileSync(`${this.#path}.new`, JSON.stringify(server), { mode: 0o600 });
      renameSync(`${this.#path}.new`, this.#path);
      this.#unwritten = null;
    } catch (error) {
      if (machineTrouble(error) === null) throw error;
      if (this.#unwritten === null) {
        this.#log.error({ event: "server.state_file_not_written", trouble: messageOf(error) });
      }
      this.#unwritten = server;
    }
  }

  /** Retries the last write if it failed. */
  retry(): void {
    if (this.#unwritten !== null) this.write(this.#unwritten);
  }

  remove(): void {
    rmSync(this.#path, { force: true });
  }
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
    const { text, userId } = readStateFile(pathOf(directory));
    if (!isTrusted(userId)) return null;
    parsed = JSON.parse(text);
  } catch {
    return null;
  }
  if (!Value.Check(runningSchema, parsed)) return null;
  const signal = AbortSignal.timeout(RESPONSE_MILLISECONDS);
  const response = await fetch(`${parsed.origin}/healthz`, { signal, ...trustOf(parsed) }).catch(() => null);
  return response?.ok === true ? parsed : null;
}

/** Part of the options of `fetch`. Bun's types omit the option to trust a certificate without its authority. */
export interface ServerTrust {
  readonly tls?: BunFetchRequestInitTLS & { readonly allowPartialTrustChain: boolean };
}

function readStateFile(path: string): { readonly text: string; readonly userId: number } {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return { text: readFileSync(file, "utf8"), userId: fstatSync(file).uid };
  } finally {
    closeSync(file);
  }
}

/**
 * Returns the options with which `fetch` reaches a running server. They trust exactly the certificate in the server
 * state file, whoever signed it. The host name is not checked: the certificate may not name the loopback address.
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

/** Returns an origin that reaches a server with these settings: the loopback address if the server listens on all. */
export function originOf({ host, port, tls_certificate }: Settings["server"]): string {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `${tls_certificate === "" ? "http" : "https"}://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}
