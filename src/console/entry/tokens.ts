import { createHash, randomBytes } from "node:crypto";

/** Returns a secret of 256 random bits that is safe in links and cookies. */
export function newToken(): string {
  return randomBytes(32).toString("base64url");
}

/**
 * Returns the hash of a token, which is stored instead of it. With 256 random bits, a plain hash is enough: it cannot
 * be reversed by search.
 */
export function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
