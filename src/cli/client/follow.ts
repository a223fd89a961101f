import type { TranscriptionResource } from "../../http/index.ts";
import type { ApiClient } from "./api-client.ts";
import { ClientError } from "./client-error.ts";
import type { Persistence, RunOptions } from "./persistence.ts";

const firstSeconds = 10;
const shortSeconds = 5;
const longestSeconds = 30;
/** A recording of ten minutes or more is asked for less and less often. */
const longRecordingSeconds = 600;

export interface FollowOptions extends RunOptions {
  /** Overrides the recommended pauses between polls. */
  readonly everySeconds: number | undefined;
  /** Whether to ask at once, for a recording that was not just sent. */
  readonly atOnce: boolean;
  /** How many are followed at once: each has a request in so many seconds, so that the key's rate is left to others. */
  readonly together: () => number;
  readonly onPoll: (transcription: TranscriptionResource) => void;
}

/** The recommended pause in seconds after one of `last` (api.md, 8). @param duration of the recording, null while unknown */
export function nextPause(last: number, duration: number | null): number {
  return (duration ?? 0) < longRecordingSeconds ? shortSeconds : Math.min(longestSeconds, last * 2);
}

/**
 * Polls until a recording has ended: first after 10 s, then every 5 s, from ten minutes of length on doubling up to 30 s.
 * @throws {ClientError} for what polling can't get past, and after twice the recording's length plus ten minutes, counted
 * from when it was last seen waiting
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
