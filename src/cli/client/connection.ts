import { networkInterfaces } from "node:os";
import { isAbsolute } from "node:path";
import type { Command } from "commander";
import { basePath, baseUrlOf, findRunningServer, trustOf } from "../../api-contract/index.ts";
import { DataPaths } from "../../storage/index.ts";
import { CommandError } from "../command-error.ts";
import { interruptible } from "../interrupts.ts";
import { serverAddress, someText } from "../parse-option.ts";
import { addSettingsOptions, settingsForAll } from "../settings-options.ts";
import { readSmallFile } from "../small-file.ts";
import { ApiClient, type Connection } from "./api-client.ts";
import { findApiKey } from "./api-key.ts";

/** Largest file of an authority's certificates, larger than the list of all public authorities. */
const MAX_CERTIFICATE_BYTES = 1024 * 1024;

interface ServerOptions {
  readonly server?: string;
  readonly keyFile?: string;
  readonly ca?: string;
  readonly config?: string;
}

/** Adds the options with which a client command finds its server and its key. */
export function addServerOptions(command: Command): Command {
  command
    .option("--server <url>", "the server (environment: TRANSCRIBE_SERVER; default: this machine's)", serverAddress)
    .option(
      "--key-file <file>",
      "file with the API key, readable only by you (default: TRANSCRIBE_API_KEY, then ~/.config/transcribe/key)",
      someText,
    )
    .option("--ca <file>", "trust this authority's certificate, PEM (environment: TRANSCRIBE_CA)", someText);
  return addSettingsOptions(command, ["storage.data_dir"]);
}

/** Maximum time that a short command retries a failing server; it is brief, because a person waits for the result. */
const SHORT_OUTAGE_SECONDS = 30;
/** Maximum time that a command retries which waits for recordings; longer than a restart of the server takes. */
export const LONG_OUTAGE_SECONDS = 600;

/** Runs a client command with a connection and with retries, until it finishes or a signal interrupts it. */
export function withClient(
  command: Command,
  work: (client: ApiClient) => Promise<void>,
  outageSeconds = SHORT_OUTAGE_SECONDS,
): Promise<void> {
  return interruptible(async (signal) => {
    await work(new ApiClient(await connectionOf(command), { signal, outageSeconds }));
  });
}

/**
 * Returns the connection of a client command. The server comes from the command's options, else the environment, else
 * this machine's settings.
 * @throws {CommandError}
 */
export async function connectionOf(command: Command): Promise<Connection> {
  const options = command.opts<ServerOptions>();
  const { env } = process;
  // Read even if the server is named, too, so that a mistake in the file's name is reported.
  if (options.config !== undefined) settingsForAll(command);
  const server = options.server ?? (env.TRANSCRIBE_SERVER || undefined);
  const key = findApiKey(options.keyFile, env);
  const caFile = options.ca ?? (env.TRANSCRIBE_CA || undefined);
  const trust = caFile === undefined ? {} : { tls: { ca: readCertificates(caFile), allowPartialTrustChain: false } };
  const found = server === undefined ? await ownServer(command) : { baseUrl: baseUrlAt(server), trust: {} };
  return { key, ...found, ...(caFile === undefined ? {} : { trust }) };
}

/** Returns the API's base URL for a server's address, which may be the base URL already. @throws {CommandError} */
function baseUrlAt(server: string): string {
  const address = serverAddress(server);
  return address.endsWith(basePath) ? address : address + basePath;
}

/** Returns the server that runs on this machine's data directory, else the address in the settings. */
async function ownServer(command: Command): Promise<Omit<Connection, "key">> {
  const settings = settingsForAll(command);
  const { data_dir } = settings.storage;
  const running = await findRunningServer(new DataPaths(data_dir), (userId) => mayName(userId, data_dir));
  if (running === null || !isHere(running.origin)) return { baseUrl: baseUrlOf(settings), trust: {} };
  return { baseUrl: baseUrlOf(running.origin), trust: trustOf(running) };
}

/**
 * Returns whether a server state file of this user may decide to which server the key is sent. The current user and
 * root may always do so. For root, the owner of a data directory may as well, but only if its path is absolute. With a
 * relative path, a stranger's `data` folder in the current directory would receive the key.
 */
function mayName(userId: number, dataDirectory: string): boolean {
  const me = process.geteuid?.() ?? userId;
  return userId === me || userId === 0 || (me === 0 && isAbsolute(dataDirectory));
}

/** Returns whether an origin is on this machine. A copied `data` folder must not send the key to another machine. */
function isHere(origin: string): boolean {
  const host = new URL(origin).hostname.replace(/^\[|\]$/g, "");
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return host === "localhost" || own.some(({ address }) => address === host);
}

function readCertificates(path: string): string {
  const text = readSmallFile(path, "the certificate", MAX_CERTIFICATE_BYTES).toString();
  if (text.includes("-----BEGIN CERTIFICATE-----")) return text;
  throw new CommandError(`${path} has no certificate in PEM format`);
}
