import type { LiveOptions, LiveRefusal } from "../../../live/index.ts";
import { count } from "../../../text/index.ts";
import { ApiError, invalidField, notFound, unavailable } from "../errors.ts";
import { rateLimited } from "../rate-limits.ts";

const DAY = 86_400_000;
/** Wait after which a place for a session may be free. Sessions end at any time. */
const PLACE_RETRY_SECONDS = 30;

/** Names of options in queries and messages, where they differ from those of a session. */
const optionNames: Readonly<Partial<Record<keyof LiveOptions, string>>> = { format: "sample_rate" };

/** Returns the name by which clients know an option. */
export function optionName(option: keyof LiveOptions): string {
  return optionNames[option] ?? option;
}

/** Returns the error of the API for a session that was not opened. @param now milliseconds since the epoch */
export function liveRefusalToApiError(refusal: LiveRefusal, now: number): ApiError {
  switch (refusal.kind) {
    case "off":
    case "unknown_session":
      return notFound();
    case "full": {
      const places = count(refusal.sessions, "live session", "live sessions");
      return unavailable(`This server runs ${places} at once, and all places are taken.`, PLACE_RETRY_SECONDS);
    }
    case "account_full":
      return new ApiError(
        "concurrency_limit",
        `This account may have ${count(refusal.sessions, "live session", "live sessions")} at once.`,
      );
    case "audio_used_up":
      // The allowance is that of a UTC day.
      return rateLimited("This account has no audio allowance left today.", DAY - (now % DAY));
    case "in_use":
      return new ApiError("concurrency_limit", "This session has a client.");
    case "bad_option":
      return invalidField(optionName(refusal.option), refusal.reason);
    case "too_fast":
    case "empty_turn":
      throw new Error(`a session was refused as ${refusal.kind}`);
  }
}
