/** Faults of ffmpeg itself or of its environment, as opposed to a file that is no recording. A closed list. */
export type MediaFault =
  /** No usable ffmpeg at the given path: missing, not executable, or too old for the options used here. */
  | "ffmpeg_unusable"
  /**
   * ffmpeg was killed by a signal that the server did not send: a crash, the kernel's out-of-memory killer, or the CPU
   * limit.
   */
  | "ffmpeg_crashed"
  /** ffmpeg reached its memory limit after it had decoded a part. */
  | "ffmpeg_out_of_memory"
  /** The wall-clock limit passed. */
  | "ffmpeg_timed_out"
  /** The stored recording is missing or not readable. */
  | "input_unreadable"
  /** The file has no audio track that can be decoded, which is detected only during decoding. */
  | "not_a_recording"
  /** The recording is longer than allowed, by its decoded length. */
  | "recording_too_long"
  /** The disk is full, or the output could not be written. */
  | "disk_full";

/**
 * The error of this folder: a fault from the closed list, and a message for the operator's log, which is never sent to
 * a client.
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
