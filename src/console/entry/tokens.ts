import { createHash, randomBytes } from "node:crypto";

/** A secret of 256 random bits, as it may stand in a link or a cookie. */
export function newToken(): string {
  return randomBytes(32).toString("base64url");
}

/** What is stored of it. So many random bits can't be searched backwards from a plain hash. */
export function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
