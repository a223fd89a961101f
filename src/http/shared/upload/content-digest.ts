import { createHash, type Hash } from "node:crypto";

const ALGORITHMS = { "sha-256": "sha256", "sha-512": "sha512" } as const;

// One member of an RFC 8941 dictionary whose value is a byte sequence, as RFC 9530 requires.
const MEMBER = /^([a-z*][a-z0-9_.*-]*)=:([A-Za-z0-9+/]*={0,2}):$/;
// RFC 9530 registers eight algorithms. All their digests together are shorter than half of MAX_HEADER_LENGTH.
const MAX_MEMBERS = 16;
const MAX_HEADER_LENGTH = 2048;

/** Compares a body with its Content-Digest header (RFC 9530), chunk by chunk. */
export class ContentDigest {
  /** One hash for each algorithm, even if the header names it repeatedly: hashing blocks the event loop. */
  readonly #expected: readonly { readonly hash: Hash; readonly digest: Buffer }[];
  readonly #unreadable: boolean;

  /**
   * Parses the header's value. SHA-256 and SHA-512 are checked. Other algorithms are ignored: RFC 9530 calls them
   * insecure or unknown.
   */
  constructor(header: string | null) {
    const members = header === null ? new Map<string, string>() : parseMembers(header);
    // An unreadable digest never matches: accepting the body anyway would skip a check that the client requested.
    this.#unreadable = members === null;
    this.#expected = Object.entries(ALGORITHMS).flatMap(([name, algorithm]) => {
      const digest = members?.get(name);
      return digest === undefined ? [] : [{ hash: createHash(algorithm), digest: Buffer.from(digest, "base64") }];
    });
  }

  update(bytes: Uint8Array): void {
    for (const { hash } of this.#expected) hash.update(bytes);
  }

  /** Returns whether all digests of the header match the bytes; true without digests. Call it once, at the end. */
  matches(): boolean {
    return !this.#unreadable && this.#expected.every(({ hash, digest }) => hash.digest().equals(digest));
  }
}

/**
 * Returns the base64 digests by algorithm, or null if the header is unreadable. The last of repeated members counts
 * (RFC 8941, 4.2.2).
 */
function parseMembers(header: string): Map<string, string> | null {
  if (header.length > MAX_HEADER_LENGTH) return null;
  const parts = header.split(",");
  if (parts.length > MAX_MEMBERS) return null;
  const members = new Map<string, string>();
  for (const part of parts) {
    const [, name, value] = MEMBER.exec(part.trim()) ?? [];
    if (name === undefined || value === undefined) return null;
    members.set(name, value);
  }
  return members;
}
