import type { Corrected, Correction } from "../../../contract/index.ts";
import { call, RETRY_MILLISECONDS, RequestError } from "../../server.ts";

/** An answer to a correction. */
interface Answer {
  readonly corrected: Corrected;
  /** The revision after which it has the changes. */
  readonly shown: number;
}

/** Returns 128 random bits. Pages without TLS have no random UUIDs. */
function randomId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Sends the corrections of a page, each until the server has answered. A repeated request changes nothing. */
export class CorrectionSender {
  /** Id of the page. */
  readonly editor = randomId();
  readonly #recordingId: string;
  readonly #onChange: () => void;
  #sequence = 0;
  #isUnreachable = false;
  /** Resolves when the user has signed in again. */
  #signedIn: PromiseWithResolvers<void> | null = null;

  /** @param onChange called when the server does not answer */
  constructor(recordingId: string, onChange: () => void) {
    this.#recordingId = recordingId;
    this.#onChange = onChange;
  }

  /** Whether a correction waits for the server, or for the user to sign in. */
  get isUnreachable(): boolean {
    return this.#isUnreachable;
  }

  /** Continues after the user has signed in again. */
  resume(): void {
    this.#signedIn?.resolve();
    this.#signedIn = null;
  }

  /**
   * Sends a correction.
   * @param seen the latest revision that the user has seen of what is corrected
   * @param shownRevision returns the revision that the page shows
   * @throws {RequestError} if the server refuses it
   */
  async send(correction: Correction, seen: number, shownRevision: () => number): Promise<Answer> {
    this.#sequence += 1;
    const sequence = this.#sequence;
    for (;;) {
      const shown = shownRevision();
      try {
        const body = { editor: this.editor, sequence, seen, shown, correction };
        const corrected = await call("correct", { id: this.#recordingId, body });
        this.#isUnreachable = false;
        return { corrected, shown };
      } catch (error) {
        if (isFinal(error)) {
          this.#isUnreachable = false;
          throw error;
        }
        this.#isUnreachable = true;
        this.#onChange();
        if (error instanceof RequestError && error.status === 401) {
          this.#signedIn ??= Promise.withResolvers();
          await this.#signedIn.promise;
        } else await new Promise((resolve) => setTimeout(resolve, RETRY_MILLISECONDS));
      }
    }
  }
}

/** Returns whether the server has refused a request. All other failures may end when the request is repeated. */
function isFinal(error: unknown): boolean {
  if (!(error instanceof RequestError) || error.isTemporary) return false;
  return ![401, 408, 429, 500].includes(error.status);
}
