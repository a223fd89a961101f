import { createHash } from "node:crypto";
import type { AnswerScope, KeptAnswer, KeptAnswers } from "../recordings/index.ts";
import { ApiError, invalidField, notFound } from "./errors.ts";

/** What an Idempotency-Key may be: visible ASCII. */
export const idempotencyKeyShape = /^[!-~]{1,255}$/;

/** A create's Idempotency-Key, from its first byte to its answer; without one nothing is kept and nothing is compared. */
export interface IdempotentCreate extends Disposable {
  /** The answer that was given before, when there was one within the last 24 hours. */
  readonly known: KeptAnswer | null;
  readonly scope: AnswerScope | null;
}

/** A create of which nothing is kept. */
export const unkept: IdempotentCreate = { known: null, scope: null, [Symbol.dispose]: () => {} };

/** Whose creates an Idempotency-Key tells apart. */
interface Creating {
  readonly account: { readonly id: string };
  readonly workspaceId: string | null;
}

/** Sees to it that a create with an Idempotency-Key happens once, however often it is sent. */
export class Idempotency {
  readonly #answers: KeptAnswers;
  readonly #now: () => number;
  /** Keys whose first request is unanswered. In memory: a crash before the answer frees the key. */
  readonly #inProgress = new Set<string>();

  constructor(answers: KeptAnswers, now: () => number) {
    this.#answers = answers;
    this.#now = now;
  }

  /**
   * Begins a create; dispose of what it gives when the answer is decided.
   * @throws 422 for a key that is none, 409 while another request with it is unanswered
   */
  begin(request: Request, { account, workspaceId }: Creating): IdempotentCreate {
    const header = request.headers.get("idempotency-key");
    if (header === null) return unkept;
    if (!idempotencyKeyShape.test(header)) {
      throw invalidField("Idempotency-Key", "It must be 1 to 255 visible ASCII characters.");
    }
    const scope = { accountId: account.id, workspaceId, key: header };
    const known = this.#answers.find(scope, this.#now());
    // What was answered can be asked for by many at once.
    if (known !== null) return { known, scope, [Symbol.dispose]: () => {} };
    const name = JSON.stringify(scope);
    if (this.#inProgress.has(name)) {
      throw new ApiError("idempotency_request_in_progress", "A request with this Idempotency-Key is in progress.");
    }
    this.#inProgress.add(name);
    return { known, scope, [Symbol.dispose]: () => void this.#inProgress.delete(name) };
  }

  /** Keeps a refusal for the next request with the same key and body. */
  keepRefusal({ scope, known }: IdempotentCreate, fingerprint: string, error: ApiError): void {
    if (scope === null || known !== null || error.status !== 422) return;
    const answer = { fingerprint, status: error.status, body: error.toJson(), recordingId: null };
    this.#answers.keep(scope, answer, this.#now());
  }
}

/**
 * The first answer again, byte for byte.
 * @throws 409 when the body is another one, 404 when the recording was deleted since
 */
export function replay(known: KeptAnswer, fingerprint: string, location: (recordingId: string) => string): Response {
  if (known.fingerprint !== fingerprint) {
    throw new ApiError("idempotency_key_reused", "This Idempotency-Key came with another body before; use a new one.");
  }
  if (known.body === null) throw notFound();
  const headers = new Headers({ "Content-Type": "application/json;charset=utf-8", "Idempotency-Replayed": "true" });
  if (known.recordingId !== null) headers.set("Location", location(known.recordingId));
  return new Response(known.body, { status: known.status, headers });
}

/** What tells one create's body from another's: the file's bytes and name, the link and the language. */
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
