import { createHash, type Hash } from "node:crypto";

const ALGORITHMS = { "sha-256": "sha256", "sha-512": "sha512" } as const;

// One member of an RFC 8941 dictionary whose value is a byte sequence, as RFC 9530 has them.
const MEMBER = /^([a-z*][a-z0-9_.*-]*)=:([A-Za-z0-9+/]*={0,2}):$/;

/** Compares a body, fed to it as it comes, with the Content-Digest that came with it (RFC 9530). */
export class ContentDigest {
  readonly #expected: { readonly hash: Hash; readonly digest: Buffer }[] = [];
  #unreadable = false;

  /** Takes the header's value. SHA-256 and SHA-512 are checked, other algorithms are not: RFC 9530 calls them insecure or unknown. */
  constructor(header: string | null) {
    if (header === null) return;
    for (const part of header.split(",")) {
      const member = MEMBER.exec(part.trim());
      if (member === null) {
        // A digest that can't be read can't be met; taking the body all the same would drop a check the client asked for.
        this.#unreadable = true;
        continue;
      }
      const [, name = "", value = ""] = member;
      if (name !== "sha-256" && name !== "sha-512") continue;
      this.#expected.push({ hash: createHash(ALGORITHMS[name]), digest: Buffer.from(value, "base64") });
    }
  }

  update(bytes: Uint8Array): void {
    for (const { hash } of this.#expected) hash.update(bytes);
  }

  /** Whether all digests that came are those of the bytes; true where none came. To be asked once, at the end. */
  matches(): boolean {
    return !this.#unreadable && this.#expected.every(({ hash, digest }) => hash.digest().equals(digest));
  }
}
