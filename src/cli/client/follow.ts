import type { TranscriptionResource } from "../../http/index.ts";
import type { ApiClient } from "./api-client.ts";
import { ClientError } from "./client-error.ts";
import type { Persistence, RunOptions } from "./persistence.ts";

const firstSeconds = 10;
const shortSeconds = 5;
const longestSeconds = 30;
/** Duration of a recording from which the pauses between polls grow. */
const longRecordingSeconds = 600;

export interface FollowOptions extends RunOptions {
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
  return (duration ?? 0) < longRecordingSeconds ? shortSeconds : Math.min(longestSeconds, last * 2);
}

/**
 * Polls until a recording is completed or failed: first after 10 s, then every 5 s. For recordings of at least ten
 * minutes, the pause doubles up to 30 s.
 * @throws {ClientError} when a request fails for good; and when, since the recording was last seen as queued, twice its
 * length plus ten minutes have passed
 */
export async function followRecording(
  client: ApiClient,
  persistence: Persistence,
  id: string,
  options: FollowOptions,
): Promise<TranscriptionResource> {
  const { clock, signal } = persistence;
  let waitingUntil = clock.now();
  let pause = options.everySeconds ?? firstSeconds;
  let duration: number | null = null;
  for (let polls = 0; ; polls++) {
    if (polls > 0 || !options.atOnce) await clock.sleep(1000 * Math.max(pause, paceOf(options)), signal);
    const transcription = await persistence.run(() => client.get(id, signal), options);
    options.onPoll(transcription);
    if (transcription.status === "completed" || transcription.status === "failed") return transcription;
    if (transcription.status === "queued") waitingUntil = clock.now();
    duration = transcription.duration_seconds ?? duration;
    if (clock.now() - waitingUntil > 1000 * (2 * (duration ?? 0) + 600)) {
      throw new ClientError(`gave up waiting for ${id}, which goes on; follow it with: transcribe watch ${id}`, {
        code: "gave_up",
      });
    }
    pause = options.everySeconds ?? nextPause(pause, duration);
  }
}

function paceOf({ everySeconds, together }: FollowOptions): number {
  return everySeconds === undefined ? together() : 0;
}
