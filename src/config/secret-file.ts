import { readFileSync } from "node:fs";
import { ExpectedError, messageOf } from "../text/index.ts";

/** Maximum length of a secret. A longer file is another one. */
const MAX_SECRET_CHARACTERS = 4096;

/** The file of a secret is missing or wrong; the message names the fault. */
export class SecretFileError extends ExpectedError {
  override readonly name = "SecretFileError";
}

/**
 * Reads a file that contains a secret alone, on one line; null for no file.
 * @param what the secret, for messages: `the client's secret`
 * @throws {SecretFileError}
 */
export function readSecretFile(file: string, what: string): string | null {
  if (file === "") return null;
  let secret: string;
  try {
    secret = readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new SecretFileError(`${file} can't be read: ${messageOf(error)}`);
  }
  if (secret === "") throw new SecretFileError(`${file} is empty; it must contain ${what}`);
  if (secret.length <= MAX_SECRET_CHARACTERS && !/\s/.test(secret)) return secret;
  throw new SecretFileError(`${file} must contain ${what} alone, on one line`);
}
