import type { ChangeGate } from "../../disk/index.ts";
import { type ApiError, unavailable } from "./errors.ts";

/** Signing in and out changes no data of clients, and an operator must be able to find out what is wrong. */
const consoleSession = /^\/console\/data\/(?:session|provider-sign-in)$/;
/** Within this time a standby connects again, or the operator learns of it. */
const RETRY_SECONDS = 5;

/** Holds back the answers to requests that change something. */
export class ChangeAnswers {
  readonly #gate: ChangeGate | null;

  constructor(gate: ChangeGate | null) {
    this.#gate = gate;
  }

  /** Returns the error for a change that is not accepted, before anything of it is done; null for other requests. */
  refusalOf(request: Request, path: string): ApiError | null {
    const reason = isChange(request, path) ? (this.#gate?.refusal() ?? null) : null;
    return reason === null ? null : unavailable(reason, RETRY_SECONDS);
  }

  /**
   * Waits until the standby has what a request has changed, or the live session that it has opened.
   * @returns the error that replaces the answer if the standby did not confirm it; null otherwise
   */
  async unconfirmed(request: Request, path: string, response: Response): Promise<ApiError | null> {
    if (this.#gate === null || response.status >= 400) return null;
    // A session can also be resumed while the standby is away. A new one was refused then.
    const isSession = response.status === 101 && this.#gate.refusal() === null;
    if (!isSession && !isChange(request, path)) return null;
    const reason = await this.#gate.confirmed();
    if (reason === null) return null;
    await response.body?.cancel();
    return unavailable(reason, RETRY_SECONDS);
  }
}

function isChange({ method }: Request, path: string): boolean {
  return method !== "GET" && method !== "HEAD" && method !== "OPTIONS" && !consoleSession.test(path);
}
