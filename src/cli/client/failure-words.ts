import type { TranscriptionResource } from "../../http/index.ts";

/** Texts for people of the failure reasons. */
export const failureWords: Readonly<Record<NonNullable<TranscriptionResource["failure_reason"]>, string>> = {
  no_speech: "nobody speaks in this recording",
  too_short: "the recording is shorter than half a second",
  quota_exceeded: "the account has no allowance left today",
  internal: "the service could not process it; the server's log says why",
};
