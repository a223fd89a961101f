import { randomBytes } from "node:crypto";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { EncryptJWT, jwtDecrypt } from "jose";

/** Time that a person has to sign in at the provider, who may ask for a second factor. */
export const SIGN_IN_MILLISECONDS = 15 * 60_000;

const begunSchema = Type.Object({
  state: Type.String(),
  nonce: Type.String(),
  verifier: Type.String(),
  redirectUri: Type.String(),
  /** The issuer to which the browser was sent: a code is never sent to another provider. */
  issuer: Type.String(),
  /** Milliseconds since the epoch. */
  beganAt: Type.Number(),
});

/** A sign-in that has begun: only the browser with its cookie can finish it. */
type BegunSignIn = Static<typeof begunSchema>;

/**
 * Sign-ins that have begun. The browser keeps them in a sealed cookie, so strangers who begin many cannot fill the
 * server's memory.
 */
export class BegunSignIns {
  readonly #now: () => number;
  /** Seals the cookies. A restart of the server ends the sign-ins. */
  readonly #seal = randomBytes(32);
  /** States of the sign-ins that were used, and when they have expired for sure, in this order. */
  readonly #used = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Returns the value of a sign-in's cookie. */
  seal(begun: BegunSignIn): Promise<string> {
    return new EncryptJWT(begun).setProtectedHeader({ alg: "dir", enc: "A256GCM" }).encrypt(this.#seal);
  }

  /** Returns the sign-in of a cookie; null if the cookie is altered or too old. */
  async open(cookie: string): Promise<BegunSignIn | null> {
    try {
      const { payload } = await jwtDecrypt(cookie, this.#seal, {
        keyManagementAlgorithms: ["dir"],
        contentEncryptionAlgorithms: ["A256GCM"],
      });
      const isValid = Value.Check(begunSchema, payload) && payload.beganAt + SIGN_IN_MILLISECONDS > this.#now();
      return isValid ? payload : null;
    } catch {
      return null;
    }
  }

  /** Marks a sign-in as used. Returns false if it was used before. */
  use({ state }: BegunSignIn): boolean {
    const now = this.#now();
    for (const [old, expiresAt] of this.#used) {
      if (expiresAt > now) break;
      this.#used.delete(old);
    }
    if (this.#used.has(state)) return false;
    this.#used.set(state, now + SIGN_IN_MILLISECONDS);
    return true;
  }
}
