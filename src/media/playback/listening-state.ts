import type { CopyFiles } from "./copy-files.ts";

/** How a recording's copy to listen to stands; messages are for people, as they are. */
export type ListeningState =
  | { readonly state: "ready"; readonly files: CopyFiles }
  | {
      readonly state: "making";
      /** Whole per cent; null while it has not begun. */
      readonly percent: number | null;
    }
  /** It can't be had. */
  | { readonly state: "none"; readonly message: string }
  /** It could not be made. */
  | { readonly state: "failed"; readonly message: string };

export const noCopy = {
  unknown: "There is no such recording.",
  open: "The recording can be listened to when it is done.",
  silent: "Nothing of the recording could be decoded, so there is nothing to listen to.",
  gone: "The recording itself is no longer kept, so it can't be listened to; retention.audio_days says how long it is.",
  absent: "The recording has not been prepared for listening.",
} as const;
