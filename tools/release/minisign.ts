import { createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import {
  KEY_ALGORITHM,
  PREHASHED_ALGORITHM,
  prehash,
  TRUSTED_COMMENT,
  UNTRUSTED_COMMENT,
} from "../../src/verification/minisign.ts";

export interface SigningKey {
  /** Eight bytes that name the key pair. */
  readonly id: Buffer;
  readonly key: KeyObject;
}

/** Bytes before the key pair in a secret key: algorithms, salt and limits of the key derivation. */
const SECRET_HEADER_BYTES = 54;
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");

/**
 * Reads a secret key that `minisign -G -W` made, without a password.
 * @throws {Error} when it has a password, is damaged or is no secret key
 */
export function readSecretKey(text: string): SigningKey {
  const bytes = Buffer.from(text.trim().split("\n").at(-1) ?? "", "base64");
  if (bytes.length !== 158 || bytes.toString("latin1", 0, 2) !== KEY_ALGORITHM) {
    throw new Error("this is no secret key of minisign");
  }
  if (bytes.readUInt16LE(2) !== 0) throw new Error("the secret key has a password; sign with minisign itself");
  const id = bytes.subarray(SECRET_HEADER_BYTES, SECRET_HEADER_BYTES + 8);
  const pair = bytes.subarray(SECRET_HEADER_BYTES + 8, SECRET_HEADER_BYTES + 72);
  const der = Buffer.concat([PKCS8_PREFIX, pair.subarray(0, 32)]);
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  // A key without a password has no checksum, but its public half must belong to the secret one.
  if (!pointOf(createPublicKey(key)).equals(pair.subarray(32))) throw new Error("the secret key is damaged");
  return { id, key };
}

function pointOf(publicKey: KeyObject): Buffer {
  return publicKey.export({ format: "der", type: "spki" }).subarray(-32);
}

/** Signs a file in minisign's prehashed form. @param comment one line, which is signed, too */
export function signFile(content: Uint8Array, { id, key }: SigningKey, comment: string): string {
  if (/[\r\n]/.test(comment)) throw new Error("a trusted comment is one line");
  const own = sign(null, prehash(content), key);
  const global = sign(null, Buffer.concat([own, Buffer.from(comment)]), key);
  const signature = Buffer.concat([Buffer.from(PREHASHED_ALGORITHM), id, own]);
  return `${UNTRUSTED_COMMENT}signature from minisign secret key\n${signature.toString("base64")}\n${TRUSTED_COMMENT}${comment}\n${global.toString("base64")}\n`;
}
