import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { CommandError, exitCodes } from "../command-error.ts";

/** Returns the path of the user's key file (XDG base directories). */
function defaultKeyPath(environment: NodeJS.ProcessEnv): string {
  return join(environment.XDG_CONFIG_HOME || join(environment.HOME || homedir(), ".config"), "transcribe", "key");
}

/**
 * Finds the API key: in `keyFile` if it is given, else in the environment, else in the user's key file. The command
 * line can't contain a key, because every user of the machine can read it.
 * @throws {CommandError} when there is no key, or other users may read its file
 */
export function findApiKey(keyFile: string | undefined, environment: NodeJS.ProcessEnv): string {
  const key = keyFile === undefined ? environment.TRANSCRIBE_API_KEY?.trim() : readKeyFile(keyFile);
  const found = key || readKeyFile(defaultKeyPath(environment), true);
  if (found !== null) return found;
  throw new CommandError(
    `an API key is needed: set TRANSCRIBE_API_KEY, or put it into ${defaultKeyPath(environment)} (chmod 600); ` +
      "make one on the server with: transcribe keys create --account NAME",
    exitCodes.refused,
  );
}

function readKeyFile(path: string, mayBeMissing?: false): string;
function readKeyFile(path: string, mayBeMissing: true): string | null;
function readKeyFile(path: string, mayBeMissing = false): string | null {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const missing = error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
    if (missing && mayBeMissing) return null;
    throw new CommandError(missing ? `there is no key file ${path}` : `can't read the key file ${path}: ${error}`);
  }
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw new CommandError(`the key file ${path} is no plain file`);
    if ((stat.mode & 0o077) !== 0) {
      throw new CommandError(`others may read the key file ${path}; make it yours alone: chmod 600 ${path}`);
    }
    const key = readFileSync(file, "utf8").trim();
    if (/^[!-~]{1,512}$/.test(key)) return key;
    throw new CommandError(`the key file ${path} must hold one API key and nothing else`);
  } finally {
    closeSync(file);
  }
}
