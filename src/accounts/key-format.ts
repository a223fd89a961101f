import { createHash } from "node:crypto";

/**
 * A key reads `trs_` + 43 base62 characters (256 random bits) + 6 base62 characters (CRC-32 of what stands before).
 * The prefix lets secret scanners find a leaked key, the checksum tells a typing error without the database.
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
 * @param random 32 random bytes
 * @returns a new key's text
 */
export function formatKey(random: Uint8Array): string {
  const body = prefix + base62(BigInt(`0x${Buffer.from(random).toString("hex")}`), bodyLength);
  return body + checksum(body);
}

/** Whether a text can be a key at all. */
export function isWellFormedKey(text: string): boolean {
  return shape.test(text) && checksum(text.slice(0, -checksumLength)) === text.slice(-checksumLength);
}

/** What is stored of a key. A key has 256 random bits, so a plain hash can't be searched backwards. */
export function hashKey(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}

/** The part of a key that may be shown again. */
export function keyHint(key: string): string {
  return key.slice(0, prefix.length + 6);
}
