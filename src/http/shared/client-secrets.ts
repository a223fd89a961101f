import { createHash, randomBytes } from "node:crypto";
import { unavailable } from "./errors.ts";
import { rateLimited } from "./rate-limits.ts";

/** A secret by which a client without a key opens one live session, on behalf of the key that created it. */
export interface ClientSecret {
  readonly id: string;
  readonly keyId: string;
  /** Milliseconds since the epoch; until then the session may be opened. */
  readonly expiresAt: number;
  /** Options of the session, in the form of the API that created the secret. */
  readonly settings: unknown;
}

interface Entry extends ClientSecret {
  /** Whether its session was opened. */
  isUsed: boolean;
  /** Milliseconds since the epoch, from which nothing can use the secret. */
  forgetAt: number;
}

/** Seconds for which a secret is valid. OpenAI's clients know these limits. */
export const secretSeconds = { minimum: 10, maximum: 7200, default: 600 } as const;

/** Secrets of one key that wait for their sessions. A program creates one for each of its visitors. */
const MAX_SECRETS_OF_KEY = 1000;
/** All secrets, about 10 MB with the longest settings. */
const MAX_SECRETS = 10_000;
/** Time for which the client of an opened session can resume it with the secret: the longest recording. */
const RESUME_MILLISECONDS = 18 * 3_600_000;

const PREFIX = "ek_";

/** Returns whether a text has the form of a client secret. */
export function isClientSecret(text: string): boolean {
  return text.startsWith(PREFIX);
}

/**
 * The client secrets of a server, in memory: a restart forgets them. A secret opens one session, and resumes that session
 * after a lost connection. Whether its key still exists is checked when it is used.
 */
export class ClientSecrets {
  readonly #now: () => number;
  readonly #entries = new Map<string, Entry>();

  /** @param now milliseconds since the epoch */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Creates a secret.
   * @throws {ApiError} 429 when the key has too many, 503 when the server has
   */
  create(keyId: string, seconds: number, settings: unknown): ClientSecret & { readonly value: string } {
    const now = this.#now();
    this.#forgetOld(now);
    const ofKey = [...this.#entries.values()].filter((entry) => entry.keyId === keyId && !entry.isUsed);
    if (ofKey.length >= MAX_SECRETS_OF_KEY) {
      const next = Math.min(...ofKey.map(({ expiresAt }) => expiresAt));
      throw rateLimited(`A key may have ${MAX_SECRETS_OF_KEY} client secrets that wait for a session.`, next - now);
    }
    if (this.#entries.size >= MAX_SECRETS) throw unavailable("The server has too many client secrets.");
    const value = `${PREFIX}${randomBytes(32).toString("hex")}`;
    const expiresAt = now + seconds * 1000;
    const id = Bun.randomUUIDv7();
    this.#entries.set(hashOf(value), { id, keyId, expiresAt, settings, isUsed: false, forgetAt: expiresAt });
    return { id, keyId, expiresAt, settings, value };
  }

  /** Returns a secret that opens a session, or resumes the session that it opened; null for any other. */
  find(value: string): ClientSecret | null {
    const entry = this.#entries.get(hashOf(value));
    return entry !== undefined && entry.forgetAt > this.#now() ? entry : null;
  }

  /**
   * Runs the opening of the session of a secret, which then opens no other one.
   * @returns null, without opening a session, if the secret has opened one or has expired
   */
  use<Session>({ id }: ClientSecret, open: () => Session): Session | null {
    const entry = this.#entries.values().find((each) => each.id === id);
    const now = this.#now();
    if (entry === undefined || entry.isUsed || entry.expiresAt <= now) return null;
    const session = open();
    entry.isUsed = true;
    entry.forgetAt = now + RESUME_MILLISECONDS;
    return session;
  }

  #forgetOld(now: number): void {
    for (const [hash, { forgetAt }] of this.#entries) if (forgetAt <= now) this.#entries.delete(hash);
  }
}

/** The secrets themselves are not stored: a comparison of hashes takes no time that depends on a secret. */
function hashOf(value: string): string {
  return createHash("sha256").update(value).digest("base64");
}
