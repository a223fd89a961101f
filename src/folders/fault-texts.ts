import type { Settings } from "../config/index.ts";
import { size } from "../text/index.ts";
import type { FileFault, FolderFile } from "./folder-files.ts";

/** Why a file got no transcript, and what the person who put it there can do. */
const faultTexts: Readonly<Record<FileFault, { readonly why: string; readonly next: string }>> = {
  unusable: {
    why: "It can't be read as a recording.",
    next: "Play it to see whether it is complete, and put it into the folder again.",
  },
  too_large: { why: "It is too large.", next: "Split it, or ask the operator to raise the limit." },
  linked: {
    why: "It has more than one name (hard links), so that it may belong to somebody else.",
    next: "Copy it into the folder instead of linking it.",
  },
  not_a_file: { why: "It is a link or a device, not a file.", next: "Copy the recording itself into the folder." },
  no_speech: { why: "No speech was found in it.", next: "Check that the right track was recorded." },
  too_short: { why: "It is too short.", next: "Check whether the recording is complete." },
  quota: {
    why: "The account's daily minutes of audio did not suffice for it on any of eight days.",
    next: "Ask the operator for more minutes, or split it, and put it into the folder again.",
  },
  cancelled: {
    why: "Its transcription was cancelled.",
    next: "Put it into the folder again to transcribe it after all.",
  },
  deleted: {
    why: "Its recording was deleted on the server before the results were written.",
    next: "Put it into the folder again to transcribe it after all.",
  },
  not_processed: {
    why: "It could not be processed.",
    next: "Ask the operator for the cause: transcribe recordings show, with the id below.",
  },
  not_exported: {
    why: "Its transcript could not be written in every format. The transcript itself is on the server.",
    next: "Ask the operator for it, with the id below.",
  },
};

/** Returns the text that lies next to a failed file. The same fault gives the same text. */
export function explanationOf({ name, reason, detail, recordingId }: FolderFile, limits: Settings["limits"]): string {
  const { why, next } = faultTexts[reason ?? "not_processed"];
  const limit = reason === "too_large" && detail === null ? ` A recording may have ${size(limits.upload_bytes)}.` : "";
  const lines = [
    `${name.toWellFormed()} was not transcribed.`,
    `Reason: ${detail ?? why}${limit}`,
    `What to do: ${next}`,
    ...(recordingId === null ? [] : [`Recording: ${recordingId}`]),
  ];
  // Windows editors of any age show these line ends.
  return `${lines.join("\r\n\r\n")}\r\n`;
}
