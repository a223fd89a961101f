import { createHash, type Hash } from "node:crypto";

const ALGORITHMS = { "sha-256": "sha256", "sha-512": "sha512" } as const;

// One member of an RFC 8941 dictionary whose value is a byte sequence, as RFC 9530 has them.
const MEMBER = /^([a-z*][a-z0-9_.*-]*)=:([A-Za-z0-9+/]*={0,2}):$/;
// RFC 9530 registers eight algorithms. All their digests together have less than half of these characters.
const MAX_MEMBERS = 16;
const MAX_HEADER_LENGTH = 2048;

/** Compares a body, fed to it as it comes, with the Content-Digest that came with it (RFC 9530). */
export class ContentDigest {
  /** One hash for each algorithm, however often the header names it: hashing blocks the event loop. */
  readonly #expected: readonly { readonly hash: Hash; readonly digest: Buffer }[];
  readonly #unreadable: boolean;

  /** Takes the header's value. SHA-256 and SHA-512 are checked, other algorithms are not: RFC 9530 calls them insecure or unknown. */
  constructor(header: string | null) {
    const members = header === null ? new Map<string, string>() : parseMembers(header);
    // A digest that can't be read can't be met; taking the body all the same would drop a check the client asked for.
    this.#unreadable = members === null;
    this.#expected = Object.entries(ALGORITHMS).flatMap(([name, algorithm]) => {
      const digest = members?.get(name);
      return digest === undefined ? [] : [{ hash: createHash(algorithm), digest: Buffer.from(digest, "base64") }];
    });
  }

  update(bytes: Uint8Array): void {
    for (const { hash } of this.#expected) hash.update(bytes);
  }

  /** Whether all digests that came are those of the bytes; true where none came. To be asked once, at the end. */
  matches(): boolean {
    return !this.#unreadable && this.#expected.every(({ hash, digest }) => hash.digest().equals(digest));
  }
}

/** Digests in base64 by algorithm; the last member counts where one comes twice (RFC 8941, 4.2.2). Null: unreadable. */
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
