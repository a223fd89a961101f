/** Codes of error events, and of the metric that counts them. */
export const errorCodes = [
  /** The bytes are no events. */
  "malformed",
  /** A header, data or payload is longer than allowed. */
  "too_large",
  /** An event, or the sound of an utterance, did not arrive in time. */
  "timeout",
  /** The client does not read what it is sent. */
  "slow_reader",
  "too_many_connections",
  /** A field of an event has a wrong type or value. */
  "bad_request",
  "unknown_model",
  "unknown_language",
  /** The machine, or the account, has as many sessions as it may have. */
  "busy",
  /** The account has used up a limit. */
  "limit",
  "account",
  /** The server can't transcribe now. */
  "unavailable",
  "internal",
] as const;

export type ErrorCode = (typeof errorCodes)[number];

/** An error that the client is told in an event `error`, after which the connection is closed. */
export class WyomingError extends Error {
  override readonly name = "WyomingError";

  /** @param message a sentence for people, without anything that was sent or recognized */
  constructor(
    readonly code: ErrorCode,
    message: string,
  ) {
    super(message);
  }
}
