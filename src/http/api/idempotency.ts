import { createHash } from "node:crypto";
import { locationOf } from "../../api-contract/index.ts";
import type { Store, Writer } from "../../database/index.ts";
import { findAnswer, type IdempotencyScope, type StoredAnswer, storeAnswer } from "../../recordings/index.ts";
import { ApiError, invalidField, notFound } from "../shared/errors.ts";
import type { ReceivedUpload } from "../shared/upload/index.ts";

/** Allowed form of an Idempotency-Key: visible ASCII. */
export const idempotencyKeyShape = /^[!-~]{1,255}$/;

/** Ensures that a create with an Idempotency-Key is executed once, however often it is sent. */
export class Idempotency {
  readonly #store: Store;
  readonly #now: () => number;
  /** Keys whose first request is still unanswered. Held in memory: a crash before the answer releases the key. */
  readonly #inProgress = new Set<string>();

  constructor(store: Store, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /**
   * Begins a create. The caller disposes of the result when the answer is decided.
   * @param owner Idempotency-Keys are distinct for each account and workspace
   * @throws 422 for a key that is not valid, 409 while another request with the same key is unanswered
   */
  begin(request: Request, owner: Omit<IdempotencyScope, "key">): IdempotentCreate {
    const header = request.headers.get("idempotency-key");
    if (header === null) return new IdempotentCreate();
    if (!idempotencyKeyShape.test(header)) {
      throw invalidField("Idempotency-Key", "It must be 1 to 255 visible ASCII characters.");
    }
    const scope = { ...owner, key: header };
    const first = findAnswer(this.#store, scope, this.#now());
    // Several requests may replay the same answer at once.
    if (first !== null) return new IdempotentCreate({ first });
    const name = JSON.stringify(scope);
    if (this.#inProgress.has(name)) {
      throw new ApiError("idempotency_request_in_progress", "A request with this Idempotency-Key is in progress.");
    }
    this.#inProgress.add(name);
    return new IdempotentCreate({
      store: (answer, writer = this.#store) => storeAnswer(writer, scope, answer, this.#now()),
      release: () => void this.#inProgress.delete(name),
    });
  }
}

interface IdempotentParts {
  /** The stored first answer, if there was one within the last 24 hours. */
  readonly first?: StoredAnswer;
  readonly store?: (answer: StoredAnswer, writer?: Writer) => void;
  readonly release?: () => void;
}

/** A create from its first byte to its answer. Without an Idempotency-Key, nothing is stored or compared. */
export class IdempotentCreate implements Disposable {
  readonly #parts: IdempotentParts;

  constructor(parts: IdempotentParts = {}) {
    this.#parts = parts;
  }

  /** Whether the request repeats one that was answered. */
  get isReplay(): boolean {
    return this.#parts.first !== undefined;
  }

  /**
   * Returns the first answer again, byte for byte. Call it only for a replay.
   * @throws 409 when the body differs, 404 when the recording was deleted since
   */
  replay(fingerprint: string): Response {
    const { first } = this.#parts;
    if (first?.fingerprint !== fingerprint) {
      const message = "This Idempotency-Key was used with another body before; use a new one.";
      throw new ApiError("idempotency_key_reused", message);
    }
    if (first.body === null) throw notFound();
    const headers = new Headers({ "Content-Type": "application/json;charset=utf-8", "Idempotency-Replayed": "true" });
    if (first.status === 201 && first.recordingId !== null) headers.set("Location", locationOf(first.recordingId));
    return new Response(first.body, { status: first.status, headers });
  }

  /** Stores the first answer, in the transaction that enters the recording. */
  store(answer: StoredAnswer, writer: Writer): void {
    this.#parts.store?.(answer, writer);
  }

  /** Stores a 422 for the next request with the same key and body. */
  storeRefusal(fingerprint: string, error: ApiError): void {
    if (error.status !== 422) return;
    this.#parts.store?.({ fingerprint, status: error.status, body: error.toJson(), recordingId: null });
  }

  [Symbol.dispose](): void {
    this.#parts.release?.();
  }
}

/** Returns the fingerprint by which bodies are compared: the file's bytes and name, the link, the language, the task and hints. */
export function fingerprintOf({ file, fields }: Pick<ReceivedUpload, "file" | "fields">): string {
  const { url, language, task, prompt, speakers, min_speakers, max_speakers } = fields;
  const compared: unknown[] = [file?.sha256 ?? null, file?.name ?? null, url ?? null, language ?? null];
  const hints = { task, prompt, speakers, min_speakers, max_speakers };
  // Without hints, the fingerprint equals that of earlier versions, whose answers may still be stored.
  if (Object.values(hints).some((hint) => hint !== undefined)) compared.push(hints);
  return createHash("sha256").update(JSON.stringify(compared)).digest("hex");
}
