import { closeSync, constants, fstatSync, openSync, readFileSync, statSync } from "node:fs";
import { codeOf, messageOf, valueOr } from "../text/index.ts";

/** Settings file of a machine's service, unless another file is named. */
export const defaultSettingsFile = "/etc/transcribe/transcribe.toml";

interface SettingsFileChoice {
  /** File that `--config` names. */
  readonly named: string | undefined;
  /** Value of TRANSCRIBE_CONFIG; empty for no file, not even the default one. */
  readonly inEnvironment: string | undefined;
  readonly defaultFile: string;
}

/** Returns the settings file to read: the named one, else the default one if it exists, else undefined. */
export function chooseSettingsFile({ named, inEnvironment, defaultFile }: SettingsFileChoice): string | undefined {
  const chosen = named ?? inEnvironment;
  if (chosen !== undefined) return chosen === "" ? undefined : chosen;
  // A file that cannot be examined may exist: without it, a command might use another data directory.
  const mayExist = valueOr(() => statSync(defaultFile, { throwIfNoEntry: false }) !== undefined, true);
  return mayExist ? defaultFile : undefined;
}

const MAX_FILE_BYTES = 128 * 1024;

/** Reads a settings file. @throws {Error} with the fault in plain words, without the file's name */
export function readSettingsFile(file: string): string {
  let descriptor: number;
  try {
    // O_NONBLOCK: opening a pipe without a writer does not block.
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw new Error(reasonOf(error));
  }
  try {
    const facts = fstatSync(descriptor);
    if (facts.isDirectory()) throw new Error("this is a directory, not a settings file");
    if (!facts.isFile()) throw new Error("this is not a regular file");
    if (facts.size > MAX_FILE_BYTES) {
      throw new Error(
        `it has ${facts.size.toLocaleString("en")} bytes; a settings file may have at most ${MAX_FILE_BYTES / 1024} KiB`,
      );
    }
    return decoded(readFileSync(descriptor));
  } finally {
    closeSync(descriptor);
  }
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Error("this is not UTF-8 text");
  }
}

function reasonOf(error: unknown): string {
  const code = codeOf(error);
  if (code === "ENOENT" || code === "ENOTDIR") return "there is no such settings file";
  if (code === "EACCES" || code === "EPERM") {
    return `this user (${process.getuid?.()}) may not read this settings file: run this as root or as the service's user, or name another file with --config`;
  }
  return `it cannot be read: ${messageOf(error)}`;
}
