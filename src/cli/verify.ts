import { statSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Command } from "commander";
import { databaseState, readDatabase } from "../database/index.ts";
import { DataPaths } from "../storage/index.ts";
import { messageOf } from "../text/index.ts";
import {
  type DatabaseToServe,
  type MinisignKey,
  readPublicKey,
  SignatureError,
  scanProgramFile,
  verifyProgram,
} from "../verification/index.ts";
import { CommandError, UsageError } from "./command-error.ts";
import { type JsonOption, print, table } from "./output.ts";
import { someText } from "./parse-option.ts";
import { printable } from "./printable.ts";
import { becomeDataOwner, settingsCommand, settingsForAll } from "./settings-options.ts";

interface VerifyCommandOptions extends JsonOption {
  readonly key?: string;
  readonly sums?: string;
  readonly allowOlder?: true;
}

/** Largest list of checksums, signature or key. */
const MAX_TEXT_BYTES = 1024 * 1024;

/** transcribe verify FILE */
export function verifyCommand(): Command {
  return settingsCommand("verify", "Check a new program file or package before an upgrade, without running it.")
    .argument(
      "<file>",
      "the new program file, Debian or RPM package, archive of an apt repository, or image archive",
      someText,
    )
    .option("--key <file or key>", "minisign public key that signed the list of checksums", someText)
    .option(
      "--sums <file>",
      "list of checksums (default: SHA256SUMS next to the file); its signature ends in .minisig",
      someText,
    )
    .option("--allow-older", "accept a program that is older than the database")
    .action(async (path: string, options: VerifyCommandOptions, command: Command) => {
      const settings = settingsForAll(command);
      const sums = options.sums ?? join(dirname(resolve(path)), "SHA256SUMS");
      const key = options.key === undefined ? null : await readKey(options.key);
      const content = await readSmall(sums);
      const signature = await readIfPresent(`${sums}.minisig`);
      const file = await scanProgramFile(path).catch((error: unknown) => {
        throw new CommandError(messageOf(error));
      });
      // The files of the command line were read with the caller's rights.
      becomeDataOwner(settings);
      const { description, kind, checks } = verifyProgram({
        ...{ path, file, key },
        list: { content, signature: signature?.toString("utf8") ?? null },
        platform: `${process.platform}-${process.arch}`,
        database: databaseToServe(settings.storage.data_dir),
        allowOlder: options.allowOlder === true,
      });
      const failed = checks.filter(({ ok }) => ok === false);
      const { version = null, commit = null, target = null } = description ?? {};
      const { sha256 } = file;
      const result = { file: path, sha256, kind, version, commit, target, ok: failed.length === 0, checks };
      print(options, result, () =>
        table(
          checks,
          {
            CHECK: ({ name }) => name,
            RESULT: ({ ok }) => (ok === null ? "not checked" : ok ? "ok" : "FAILED"),
            "": ({ detail }) => printable(detail),
          },
          "",
        ),
      );
      if (failed.length > 0) {
        throw new CommandError(`${path} failed: ${failed.map(({ name }) => name).join(", ")}; do not install it`);
      }
    });
}

/** Returns the key of a command line: the key itself, or the key of a file. */
async function readKey(keyOrFile: string): Promise<MinisignKey> {
  const isKey = /^RW[0-9A-Za-z+/]{54}$/.test(keyOrFile);
  const text = isKey ? keyOrFile : (await readSmall(keyOrFile)).toString("utf8");
  try {
    return readPublicKey(text);
  } catch (error) {
    if (error instanceof SignatureError) throw new UsageError(`${keyOrFile}: ${error.message}`);
    throw error;
  }
}

async function readIfPresent(path: string): Promise<Buffer | null> {
  return statSync(path, { throwIfNoEntry: false }) === undefined ? null : await readSmall(path);
}

/** Reads a small regular file. @throws {CommandError} when it is another kind of file, too large or unreadable */
async function readSmall(path: string): Promise<Buffer> {
  try {
    if (!statSync(path).isFile()) throw new Error("it is not a regular file");
    await using handle = await open(path);
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(MAX_TEXT_BYTES + 1), 0, MAX_TEXT_BYTES + 1, 0);
    if (bytesRead > MAX_TEXT_BYTES) throw new Error(`it has more than ${MAX_TEXT_BYTES} bytes`);
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    throw new CommandError(`can't read ${path}: ${messageOf(error)}`);
  }
}

/** Reads what an upgrade needs to know of the database. @returns null without a database, else the reason as a text */
function databaseToServe(dataDirectory: string): DatabaseToServe | string | null {
  const { databasePath } = new DataPaths(dataDirectory);
  try {
    if (statSync(databasePath, { throwIfNoEntry: false }) === undefined) return null;
    const store = readDatabase(databasePath);
    try {
      const { applied, version } = databaseState(store.$client);
      return { version, migrations: applied.map(({ name }) => name) };
    } finally {
      store.$client.close();
    }
  } catch (error) {
    return `the database of ${dataDirectory} can't be read (${messageOf(error)}); run this as root or as its owner`;
  }
}
