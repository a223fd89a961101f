import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { codeOf, messageOf } from "../../text/index.ts";
import { CommandError, exitCodes } from "../command-error.ts";

/**
 * Finds the API key: in `keyFile` if it is given, else in the environment, else in the user's key file. The command
 * line can't contain a key, because every user of the machine can read it.
 * @throws {CommandError} when there is no key, or other users may read its file
 */
export function findApiKey(keyFile: string | undefined, environment: NodeJS.ProcessEnv): string {
  if (keyFile !== undefined) {
    const named = readKeyFile(keyFile);
    if (named === null) throw new CommandError(`there is no key file ${keyFile}`, exitCodes.refused);
    return named;
  }
  // XDG base directories.
  const configHome = environment.XDG_CONFIG_HOME || join(environment.HOME || homedir(), ".config");
  const userFile = join(configHome, "transcribe", "key");
  const found = environment.TRANSCRIBE_API_KEY?.trim() || readKeyFile(userFile);
  if (found !== null) return found;
  throw new CommandError(
    `an API key is needed: set TRANSCRIBE_API_KEY, or write it to ${userFile} (chmod 600); ` +
      "create one on the server with: transcribe keys create --account NAME",
    exitCodes.refused,
  );
}

/** Reads a key file; returns null if it does not exist. @throws {CommandError} when it is not a private file of a key */
function readKeyFile(path: string): string | null {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return null;
    throw new CommandError(`can't read the key file ${path}: ${messageOf(error)}`, exitCodes.refused);
  }
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw new CommandError(`the key file ${path} is not a regular file`, exitCodes.refused);
    if ((stat.mode & 0o077) !== 0) {
      throw new CommandError(
        `other users may access the key file ${path}; restrict it: chmod 600 ${path}`,
        exitCodes.refused,
      );
    }
    const key = readFileSync(file, "utf8").trim();
    if (/^[!-~]{1,512}$/.test(key)) return key;
    throw new CommandError(`the key file ${path} must contain one API key and nothing else`, exitCodes.refused);
  } finally {
    closeSync(file);
  }
}
