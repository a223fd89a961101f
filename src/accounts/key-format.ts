import { createHash } from "node:crypto";

/**
 * A key consists of `trs_`, 43 base62 characters (256 random bits) and 6 base62 characters (CRC-32 of all preceding
 * characters).
 * The prefix lets secret scanners find a leaked key. The checksum detects typing errors without a database query.
 */
const prefix = "trs_";
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const bodyLength = 43;
const checksumLength = 6;
const shape = new RegExp(`^${prefix}[0-9A-Za-z]{${bodyLength + checksumLength}}$`);

function base62(value: bigint, length: number): string {
  let digits = "";
  for (let rest = value; rest > 0n; rest /= 62n) digits = alphabet[Number(rest % 62n)] + digits;
  return digits.padStart(length, "0");
}

function checksum(text: string): string {
  return base62(BigInt(Bun.hash.crc32(text)), checksumLength);
}

/**
 * Formats a new key.
 * @param random 32 random bytes
 * @returns the text of the key
 */
export function formatKey(random: Uint8Array): string {
  const body = prefix + base62(BigInt(`0x${Buffer.from(random).toString("hex")}`), bodyLength);
  return body + checksum(body);
}

/** Checks the form and the checksum of a key. */
export function isWellFormedKey(text: string): boolean {
  return shape.test(text) && checksum(text.slice(0, -checksumLength)) === text.slice(-checksumLength);
}

/**
 * Returns the hash that is stored instead of a key. A key has 256 random bits, so a plain hash can't be reversed by
 * search.
 */
export function hashKey(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}

/** Returns the first characters of a key, which may be shown again. */
export function keyHint(key: string): string {
  return key.slice(0, prefix.length + 6);
}
