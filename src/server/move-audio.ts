import { isOpen, type Recordings } from "../recordings/index.ts";
import type { BucketState, DataDirectory } from "../storage/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";

/** Time between two looks for audio to move, and after a failure. */
const LOOK_MILLISECONDS = 2_000;
const RETRY_MILLISECONDS = 30_000;
/** Time after the end of a recording during which its audio stays here, because a playback copy is made of it. */
const KEPT_MILLISECONDS = 10 * 60_000;

interface MoveServices {
  readonly dataDirectory: Pick<DataDirectory, "bucketAudio">;
  readonly recordings: Recordings;
  readonly log: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Moves the audio of recordings to the bucket of the settings. Does nothing without one. */
export function moveAudio({ dataDirectory, recordings, log, now }: MoveServices) {
  const { bucketAudio } = dataDirectory;
  let timer: NodeJS.Timeout | undefined;
  const stopping = new AbortController();
  let current: Promise<void> = Promise.resolve();
  const isProcessed = (id: string) => {
    const recording = recordings.get(id);
    // A record may follow; the audio of a recording without one is removed with the retention period.
    if (recording === null) return true;
    const rerun = recordings.reruns.of(id);
    if (isOpen(recording.status) || (rerun !== null && isOpen(rerun.status))) return true;
    return recording.endedAt === null || now() - recording.endedAt < KEPT_MILLISECONDS;
  };
  const look = async () => {
    if (bucketAudio === null) return;
    const { failingSince } = bucketAudio.state;
    let wait = LOOK_MILLISECONDS;
    try {
      await bucketAudio.move(isProcessed, now(), stopping.signal);
      if (failingSince !== null) log.info({ event: "audio_store.recovered", milliseconds: now() - failingSince });
    } catch (error) {
      wait = RETRY_MILLISECONDS;
      // The outage is logged once.
      if (failingSince === null && !stopping.signal.aborted)
        log.error({ event: "audio_store.failed", trouble: messageOf(error) });
    }
    if (!stopping.signal.aborted) timer = setTimeout(run, wait);
  };
  const run = () => {
    current = look();
  };
  const stop = async () => {
    stopping.abort(new Error("the server stops"));
    clearTimeout(timer);
    await current;
  };
  run();
  return {
    state: (): BucketState => bucketAudio?.state ?? { waiting: 0, failingSince: null },
    [Symbol.asyncDispose]: stop,
  };
}
