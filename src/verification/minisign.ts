import { createHash, createPublicKey, type KeyObject, verify } from "node:crypto";

// The format of minisign: https://jedisct1.github.io/minisign/#signature-format

/** A key or a signature of minisign cannot be used, or a signature is wrong. */
export class SignatureError extends Error {
  override readonly name = "SignatureError";
}

export interface MinisignKey {
  /** Eight bytes that name the key pair, in hexadecimal. */
  readonly id: string;
  readonly key: KeyObject;
}

/** First bytes of a key and of a signature whose file was hashed with BLAKE2b-512 first. */
export const KEY_ALGORITHM = "Ed";
export const PREHASHED_ALGORITHM = "ED";

const ID_BYTES = 8;
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;

/** Label of the text that is signed together with the signature. */
export const TRUSTED_COMMENT = "trusted comment: ";
export const UNTRUSTED_COMMENT = "untrusted comment: ";

/**
 * Reads a public key.
 * @param text the key's base64, or the contents of a .pub file
 * @throws {SignatureError} when it is no public key
 */
export function readPublicKey(text: string): MinisignKey {
  const lines = linesOf(text);
  const base64 = lines.length === 2 && lines[0]?.startsWith(UNTRUSTED_COMMENT) ? lines[1] : lines[0];
  const bytes = lines.length > 2 ? null : decode(base64 ?? "", 2 + ID_BYTES + KEY_BYTES);
  if (bytes === null || bytes.toString("latin1", 0, 2) !== KEY_ALGORITHM) {
    throw new SignatureError("this is no public key of minisign");
  }
  const x = bytes.subarray(2 + ID_BYTES).toString("base64url");
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  return { id: keyId(bytes), key };
}

/** Returns the digest of a file that minisign signs. */
export function prehash(content: Uint8Array): Buffer {
  return createHash("blake2b512").update(content).digest();
}

/**
 * Checks a signature in minisign's prehashed form, with its trusted comment.
 * @param content the signed file
 * @param signature contents of the .minisig file
 * @returns the trusted comment
 * @throws {SignatureError} when the signature is not the key's, or not of this file
 */
export function verifySignature(content: Uint8Array, signature: string, { id, key }: MinisignKey): string {
  const [untrusted = "", first = "", trusted = "", second = "", ...more] = linesOf(signature);
  const bytes = decode(first, 2 + ID_BYTES + SIGNATURE_BYTES);
  const global = decode(second, SIGNATURE_BYTES);
  const isComplete = untrusted.startsWith(UNTRUSTED_COMMENT) && trusted.startsWith(TRUSTED_COMMENT);
  if (bytes === null || global === null || !isComplete || more.length > 0) {
    throw new SignatureError("the signature is not in minisign's format");
  }
  const algorithm = bytes.toString("latin1", 0, 2);
  if (algorithm !== PREHASHED_ALGORITHM) {
    throw new SignatureError(
      algorithm === KEY_ALGORITHM
        ? "the signature is in minisign's old form, without BLAKE2b"
        : "the signature is not in minisign's format",
    );
  }
  if (keyId(bytes) !== id) {
    throw new SignatureError(`the signature was made with the key ${keyId(bytes)}, not with ${id}`);
  }
  const own = bytes.subarray(2 + ID_BYTES);
  const comment = trusted.slice(TRUSTED_COMMENT.length);
  if (!verify(null, prehash(content), key, own)) throw new SignatureError("the signature is not of this file");
  if (!verify(null, Buffer.concat([own, Buffer.from(comment)]), key, global)) {
    throw new SignatureError("the signature's trusted comment was changed");
  }
  return comment;
}

/** Returns the name of a key as minisign shows it: its bytes are a number in little-endian order. */
function keyId(bytes: Buffer): string {
  return Buffer.from(bytes.subarray(2, 2 + ID_BYTES))
    .reverse()
    .toString("hex")
    .toUpperCase();
}

function linesOf(text: string): string[] {
  return text.replace(/\r?\n$/, "").split(/\r?\n/);
}

/** Decodes base64 in its only correct spelling. @returns null for any other text or length */
function decode(text: string, length: number): Buffer | null {
  const bytes = Buffer.from(text, "base64");
  return bytes.length === length && bytes.toString("base64") === text ? bytes : null;
}
