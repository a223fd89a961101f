import { SIGN_IN_MILLISECONDS } from "./begun-sign-ins.ts";
import type { LogoutNotice } from "./logout-token.ts";

/** Maximum number of logouts that are remembered. The provider signs them, so strangers cannot fill the memory. */
const MAX_LOGOUTS = 10_000;

/** A sign-in whose session is about to be opened. */
interface Opening {
  readonly issuer: string;
  readonly subject: string;
  /** Id of the session at the provider; null if the provider has none. */
  readonly providerSession: string | null;
  /** Milliseconds since the epoch. */
  readonly beganAt: number;
}

/**
 * The logouts that the provider has reported. One that arrives during a sign-in finds no session to end, so the session
 * must not be opened afterwards.
 */
export class ReportedLogouts {
  #reports: { readonly notice: LogoutNotice; readonly at: number }[] = [];

  /** Remembers a logout until all sign-ins that had begun before it are over. */
  add(notice: LogoutNotice, now: number): void {
    this.#reports = this.#reports.filter(({ at }) => at + SIGN_IN_MILLISECONDS > now).slice(1 - MAX_LOGOUTS);
    this.#reports.push({ notice, at: now });
  }

  /**
   * Returns whether a logout covers the session of a sign-in: it names that session, or all of the person and was reported
   * after the sign-in began. A session without an id may be the one that a logout names.
   */
  cover({ issuer, subject, providerSession, beganAt }: Opening): boolean {
    return this.#reports.some(({ notice, at }) => {
      if (notice.issuer !== issuer || (notice.subject !== null && notice.subject !== subject)) return false;
      if (notice.providerSession !== null && providerSession !== null)
        return notice.providerSession === providerSession;
      return notice.subject !== null && beganAt <= at;
    });
  }
}
