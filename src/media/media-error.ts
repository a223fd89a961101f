import type { InternalCause } from "../recordings/index.ts";

/** Faults of media handling. docs/troubleshooting.md explains each. */
export type MediaFault =
  | "not_a_recording"
  | Extract<
      InternalCause,
      `ffmpeg_${string}` | `fetch_${string}` | "input_unreadable" | "recording_too_long" | "disk_full"
    >;

/**
 * The error of this folder. Its message is for the operator's log and is never sent to a client. It contains only the
 * host of a link, because the rest of a link may contain secrets.
 */
export class MediaError extends Error {
  override readonly name = "MediaError";

  constructor(
    readonly fault: MediaFault,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
