import { readFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { isAbsolute } from "node:path";
import type { Command } from "commander";
import { basePath } from "../../http/index.ts";
import { baseUrlOf, findRunningServer, trustOf } from "../../server/index.ts";
import { DataPaths } from "../../storage/index.ts";
import { messageOf } from "../../text/index.ts";
import { CommandError, exitCodes } from "../command-error.ts";
import { addSettingsOptions, settingsForAll } from "../settings-options.ts";
import { ApiClient, type Connection } from "./api-client.ts";
import { findApiKey } from "./api-key.ts";

interface ServerOptions {
  readonly server?: string;
  readonly keyFile?: string;
  readonly ca?: string;
}

/** Adds what a command of the client needs to find its server and its key. */
export function addServerOptions(command: Command): Command {
  command
    .option("--server <url>", "the server (environment: TRANSCRIBE_SERVER; default: this machine's)")
    .option(
      "--key-file <file>",
      "file with the API key, readable by you alone (default: TRANSCRIBE_API_KEY, then ~/.config/transcribe/key)",
    )
    .option("--ca <file>", "trust this authority's certificate, PEM (environment: TRANSCRIBE_CA)");
  return addSettingsOptions(command, ["storage.data_dir"]);
}

/** A client for the server that a command's options, the environment or this machine's settings name. @throws {CommandError} */
export async function connect(command: Command): Promise<ApiClient> {
  const options = command.opts<ServerOptions>();
  const { env } = process;
  const server = options.server ?? (env.TRANSCRIBE_SERVER || undefined);
  const key = findApiKey(options.keyFile, env);
  const caFile = options.ca ?? (env.TRANSCRIBE_CA || undefined);
  const trust = caFile === undefined ? {} : { tls: { ca: readCertificates(caFile), allowPartialTrustChain: false } };
  const found = server === undefined ? await ownServer(command) : { baseUrl: parseServer(server), trust: {} };
  return new ApiClient({ key, ...found, ...(caFile === undefined ? {} : { trust }) });
}

/**
 * The API's base address for what a user may give as a server: its origin, one under a path, or the base address itself.
 * @throws {CommandError}
 */
function parseServer(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.search !== "" || url.hash !== "") {
    // Not repeated: a password may stand in it.
    throw new CommandError("that is no server; write e.g. https://transcribe.example.org", exitCodes.usage);
  }
  const path = url.pathname.replace(/\/+$/, "");
  return url.origin + (path.endsWith(basePath) ? path : path + basePath);
}

/** The server of this machine's data directory when one runs, else where the settings say that one would listen. */
async function ownServer(command: Command): Promise<Omit<Connection, "key">> {
  const settings = settingsForAll(command);
  const { data_dir } = settings.storage;
  const running = await findRunningServer(new DataPaths(data_dir), (userId) => mayName(userId, data_dir));
  if (running === null || !isHere(running.origin)) return { baseUrl: baseUrlOf(settings), trust: {} };
  return { baseUrl: baseUrlOf(running.origin), trust: trustOf(running) };
}

/**
 * Whether a user may say where our key goes: ourselves and root, anywhere; to root, who may be anywhere, also the owner of a
 * directory that the settings name by its whole path. Another's `data` folder, which we happen to be beside, may not.
 */
function mayName(userId: number, dataDirectory: string): boolean {
  const me = process.geteuid?.() ?? userId;
  return userId === me || userId === 0 || (me === 0 && isAbsolute(dataDirectory));
}

/** Whether an address is this machine's: a `data` folder that came from elsewhere shall not say where our key goes. */
function isHere(origin: string): boolean {
  const host = new URL(origin).hostname.replace(/^\[|\]$/g, "");
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return host === "localhost" || own.some(({ address }) => address === host);
}

function readCertificates(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new CommandError(`can't read ${path}: ${messageOf(error)}`);
  }
  if (text.includes("-----BEGIN CERTIFICATE-----")) return text;
  throw new CommandError(`${path} holds no certificate in PEM`);
}
