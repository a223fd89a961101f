import type { Logger } from "../../telemetry/index.ts";
import { ApiError } from "./errors.ts";
import { OpenAnswers } from "./open-answers.ts";
import { contextOf, ownerOf } from "./request-context.ts";

/** Maximum size of an answer in memory. Pages hold half of it; longer answers are files. */
export const MAX_HELD_BYTES = 4 * 1024 * 1024;
/** Answers up to this size are not counted: the system's buffer for the connection takes them. */
const UNCOUNTED_BYTES = 64 * 1024;
/** Maximum size of the counted answers that an owner has not read yet, and of those of all owners. */
export const MAX_BYTES_OF_OWNER = 16 * 1024 * 1024;
const MAX_BYTES_IN_ALL = 128 * 1024 * 1024;

/**
 * The answers in memory that clients have not read yet. Bun holds the rest of an answer as long as its client does not
 * read, so their total size is bounded, for each owner and in all.
 */
export class HeldAnswers {
  readonly #log: Logger;
  readonly #answers: OpenAnswers;

  constructor({ log, now }: { readonly log: Logger; readonly now: () => number }) {
    this.#log = log;
    const refusal = "Too many long answers are being sent; read them before asking for more.";
    this.#answers = new OpenAnswers({ perOwner: MAX_BYTES_OF_OWNER, inAll: MAX_BYTES_IN_ALL, refusal }, now);
  }

  /** Counts the answer of a request. Returns the error with which it is replaced if it can't be held; null if it can. */
  refusalOf(request: Request): ApiError | null {
    const { heldBytes, connection, requestId } = contextOf(request);
    if (heldBytes <= UNCOUNTED_BYTES) return null;
    if (heldBytes > MAX_HELD_BYTES) {
      this.#log.error({ event: "http.answer_too_large", requestId, bytes: heldBytes });
      return new ApiError("internal_error", "The answer is too large.");
    }
    try {
      this.#answers.open(ownerOf(request), connection, { weight: heldBytes }).send(heldBytes);
      return null;
    } catch (error) {
      if (error instanceof ApiError) return error;
      throw error;
    }
  }
}
