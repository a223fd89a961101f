import { ExpectedError } from "../text/index.ts";

/** Minimum length. A shorter password can be guessed from a stolen database, whatever the hash function is. */
export const MIN_PASSWORD_LENGTH = 12;
/** Maximum length. Nobody types a longer password, and every character is hashed. */
const MAX_PASSWORD_LENGTH = 256;

/** A password that is not accepted; the message gives the reason. */
export class PasswordError extends ExpectedError {
  override readonly name = "PasswordError";
}

/**
 * Hashes a new password with argon2id.
 * @throws {PasswordError} for a password that is too short or too long
 */
export async function hashPassword(password: string): Promise<string> {
  const length = [...password].length;
  if (length < MIN_PASSWORD_LENGTH || length > MAX_PASSWORD_LENGTH) {
    throw new PasswordError(`a password has ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters`);
  }
  return await Bun.password.hash(password, "argon2id");
}

let decoy: Promise<string> | undefined;

/**
 * Returns whether a password has a hash. The check takes a few hundredths of a second on another thread. Without a
 * hash it takes as long, so that its time does not reveal whether there is a user.
 */
export async function isPasswordOf(hash: string | null, password: string): Promise<boolean> {
  decoy ??= Bun.password.hash(crypto.randomUUID(), "argon2id");
  const isRight = await Bun.password.verify(password, hash ?? (await decoy));
  return isRight && hash !== null;
}
