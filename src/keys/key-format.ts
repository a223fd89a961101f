import { createHash } from "node:crypto";

/**
 * A key consists of `trs_`, 43 base62 characters (256 random bits) and a checksum of 6 base62 characters (CRC-32 of
 * everything before). The prefix lets secret scanners find a leaked key. The checksum detects typing errors early.
 */
const prefix = "trs_";
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BODY_CHARACTERS = 43;
const CHECKSUM_CHARACTERS = 6;
const shape = new RegExp(`^${prefix}[0-9A-Za-z]{${BODY_CHARACTERS + CHECKSUM_CHARACTERS}}$`);

function base62(value: bigint, length: number): string {
  let digits = "";
  for (let rest = value; rest > 0n; rest /= 62n) digits = alphabet[Number(rest % 62n)] + digits;
  return digits.padStart(length, "0");
}

function checksum(text: string): string {
  return base62(BigInt(Bun.hash.crc32(text)), CHECKSUM_CHARACTERS);
}

/**
 * Formats a new key.
 * @param random 32 random bytes
 * @returns the text of the key
 */
export function formatKey(random: Uint8Array): string {
  const body = prefix + base62(BigInt(`0x${Buffer.from(random).toString("hex")}`), BODY_CHARACTERS);
  return body + checksum(body);
}

/** Checks the form and the checksum of a key. */
export function isWellFormedKey(text: string): boolean {
  return shape.test(text) && checksum(text.slice(0, -CHECKSUM_CHARACTERS)) === text.slice(-CHECKSUM_CHARACTERS);
}

/** Returns the hash that is stored instead of a key. A plain hash of 256 random bits can't be reversed by search. */
export function hashKey(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}

/** Returns the first characters of a key, which may be shown again. */
export function keyHint(key: string): string {
  return key.slice(0, prefix.length + 6);
}
