import type { TranscriptionResource } from "../../api/index.ts";
import type { ApiClient } from "./api-client.ts";
import { ClientError } from "./request.ts";
import type { PauseOptions } from "./retries.ts";

const FIRST_PAUSE_SECONDS = 10;
const SHORT_PAUSE_SECONDS = 5;
const MAX_PAUSE_SECONDS = 30;
/** Duration of a recording from which the pauses between polls grow. */
const LONG_RECORDING_SECONDS = 600;

interface FollowOptions extends PauseOptions {
  /** Overrides the recommended pauses between polls. */
  readonly everySeconds: number | undefined;
  /** Whether the first poll happens at once, for a recording that was not just sent. */
  readonly atOnce: boolean;
  /**
   * Number of recordings that are followed concurrently. With n of them, each is polled at most every n seconds, to
   * leave most of the key's rate limit to other requests.
   */
  readonly together: () => number;
  readonly onPoll: (transcription: TranscriptionResource) => void;
}

/**
 * Returns the recommended pause in seconds after a pause of `last` seconds (api.md, 8).
 * @param duration length of the recording in seconds, null while unknown
 */
export function nextPause(last: number, duration: number | null): number {
  return (duration ?? 0) < LONG_RECORDING_SECONDS ? SHORT_PAUSE_SECONDS : Math.min(MAX_PAUSE_SECONDS, last * 2);
}

/**
 * Polls until a recording is completed or failed: first after 10 s, then every 5 s. For recordings of at least ten
 * minutes, the pause doubles up to 30 s.
 * @throws {ClientError} when a request fails for good; and when, since the recording was last seen as queued, twice its
 * length plus ten minutes have passed
 */
export async function followRecording(
  client: ApiClient,
  id: string,
  { everySeconds, atOnce, together, onPoll, ...pauses }: FollowOptions,
): Promise<TranscriptionResource> {
  const { clock, signal } = client.retries;
  let queuedUntil = clock.now();
  let pause = everySeconds ?? FIRST_PAUSE_SECONDS;
  let duration: number | null = null;
  for (let polls = 0; ; polls++) {
    const seconds = everySeconds ?? Math.max(pause, together());
    if (polls > 0 || !atOnce) await clock.sleep(1000 * seconds, signal);
    const transcription = await client.get(id, pauses);
    onPoll(transcription);
    if (transcription.status === "completed" || transcription.status === "failed") return transcription;
    if (transcription.status === "queued") queuedUntil = clock.now();
    duration = transcription.duration_seconds ?? duration;
    if (clock.now() - queuedUntil > 1000 * (2 * (duration ?? 0) + 600)) {
      const message = `stopped waiting for ${id}, which is still processing; follow it with: transcribe watch ${id}`;
      throw new ClientError(message, "gave_up");
    }
    pause = nextPause(pause, duration);
  }
}
