import type { PlaybackFiles } from "../../storage/index.ts";

/** Status of a recording's playback copy. Messages can be shown to users unchanged. */
export type ListeningState =
  | { readonly state: "ready"; readonly files: PlaybackFiles }
  | {
      readonly state: "making";
      /** Whole per cent; null before the copy has started. */
      readonly percent: number | null;
    }
  /** There is no copy. */
  | { readonly state: "none"; readonly message: string }
  /** Making the copy failed. */
  | { readonly state: "failed"; readonly message: string };

export const noCopy = {
  unknown: "There is no such recording.",
  open: "The recording can be listened to when it is done.",
  silent: "Nothing of the recording could be decoded, so there is nothing to listen to.",
  gone: "The recording itself is no longer kept, so it can't be listened to; retention.audio_days says how long it is.",
  absent: "The recording has not been prepared for listening.",
} as const;
