/** What can go wrong with ffmpeg itself or around it, as opposed to a file that is no recording. A closed list. */
export type MediaFault =
  /** No usable ffmpeg at the given path: missing, not executable, or too old for the options used here. */
  | "ffmpeg_unusable"
  /** ffmpeg was killed by a signal it did not get from us: a crash, the kernel's out-of-memory killer, the CPU limit. */
  | "ffmpeg_crashed"
  /** After a part was decoded, ffmpeg asked for more memory than it may have. */
  | "ffmpeg_out_of_memory"
  /** The wall-clock limit passed. */
  | "ffmpeg_timed_out"
  /** The stored recording is gone or may not be read. */
  | "input_unreadable"
  /** The file has no audio track that can be decoded, found out only at decoding. */
  | "not_a_recording"
  /** The recording is longer than allowed, by its decoded length. */
  | "recording_too_long"
  /** The disk is full, or the output could not be written. */
  | "disk_full";

/** The error of this folder: a fault out of the closed list, and a message for the operator's log (never a client's). */
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
