import { createHash } from "node:crypto";
import type { IdempotencyScope, StoredAnswer, StoredAnswers } from "../recordings/index.ts";
import { ApiError, invalidField, notFound } from "./errors.ts";

/** Allowed form of an Idempotency-Key: visible ASCII. */
export const idempotencyKeyShape = /^[!-~]{1,255}$/;

/** The Idempotency-Key of a create, from its first byte to its answer. Without a key, nothing is stored or compared. */
export interface IdempotentCreate extends Disposable {
  /** The previous answer, if there was one within the last 24 hours. */
  readonly known: StoredAnswer | null;
  readonly scope: IdempotencyScope | null;
}

/** A create whose answer is not stored: it has no Idempotency-Key, or the operator sends it. */
export const unkept: IdempotentCreate = { known: null, scope: null, [Symbol.dispose]: () => {} };

/** Owner of a create: Idempotency-Keys are distinct for each account and workspace. */
interface Creating {
  readonly account: { readonly id: string };
  readonly workspaceId: string | null;
}

/** Ensures that a create with an Idempotency-Key is executed once, however often it is sent. */
export class Idempotency {
  readonly #answers: StoredAnswers;
  readonly #now: () => number;
  /** Keys whose first request is still unanswered. Held in memory: a crash before the answer releases the key. */
  readonly #inProgress = new Set<string>();

  constructor(answers: StoredAnswers, now: () => number) {
    this.#answers = answers;
    this.#now = now;
  }

  /**
   * Begins a create. The caller disposes of the result when the answer is decided.
   * @throws 422 for a key that is not valid, 409 while another request with the same key is unanswered
   */
  begin(request: Request, { account, workspaceId }: Creating): IdempotentCreate {
    const header = request.headers.get("idempotency-key");
    if (header === null) return unkept;
    if (!idempotencyKeyShape.test(header)) {
      throw invalidField("Idempotency-Key", "It must be 1 to 255 visible ASCII characters.");
    }
    const scope = { accountId: account.id, workspaceId, key: header };
    const known = this.#answers.find(scope, this.#now());
    // Several requests may replay the same answer at once.
    if (known !== null) return { known, scope, [Symbol.dispose]: () => {} };
    const name = JSON.stringify(scope);
    if (this.#inProgress.has(name)) {
      throw new ApiError("idempotency_request_in_progress", "A request with this Idempotency-Key is in progress.");
    }
    this.#inProgress.add(name);
    return { known, scope, [Symbol.dispose]: () => void this.#inProgress.delete(name) };
  }

  /** Stores a 422 for the next request with the same key and body. */
  keepRefusal({ scope, known }: IdempotentCreate, fingerprint: string, error: ApiError): void {
    if (scope === null || known !== null || error.status !== 422) return;
    const answer = { fingerprint, status: error.status, body: error.toJson(), recordingId: null };
    this.#answers.keep(scope, answer, this.#now());
  }
}

/**
 * Returns the first answer again, byte for byte.
 * @throws 409 when the body differs, 404 when the recording was deleted since
 */
export function replay(known: StoredAnswer, fingerprint: string, location: (recordingId: string) => string): Response {
  if (known.fingerprint !== fingerprint) {
    throw new ApiError("idempotency_key_reused", "This Idempotency-Key came with another body before; use a new one.");
  }
  if (known.body === null) throw notFound();
  const headers = new Headers({ "Content-Type": "application/json;charset=utf-8", "Idempotency-Replayed": "true" });
  if (known.recordingId !== null) headers.set("Location", location(known.recordingId));
  return new Response(known.body, { status: known.status, headers });
}

/**
 * Returns the fingerprint by which the bodies of creates are compared: the file's bytes and name, the link and the
 * language.
 */
export function fingerprintOf(body: {
  readonly sha256: string | null;
  readonly name: string | null;
  readonly url: string | null;
  readonly language: string | null;
}): string {
  return createHash("sha256")
    .update(JSON.stringify([body.sha256, body.name, body.url, body.language]))
    .digest("hex");
}
