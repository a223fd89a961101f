import type { SegmentResource, TranscriptionResource } from "../api-contract/index.ts";
import type { Status, Step } from "../recordings/index.ts";
import { printable } from "./printable.ts";

/** Texts for the failure reasons of the API. */
export const failureTexts: Readonly<Record<NonNullable<TranscriptionResource["failure_reason"]>, string>> = {
  no_speech: "the recording contains no speech",
  too_short: "the recording is shorter than half a second",
  quota_exceeded: "the account's daily allowance is used up",
  internal: "the server could not process it; its log has the reason",
};

const progressTexts = {
  queued: "Queued",
  processing: "Processing",
  completed: "Completed",
  failed: "Failed",
  open: "Opening",
  fetch: "Download",
  decode: "Decoding",
  detect: "Speech detection",
  transcribe: "Transcription",
  diarize: "Speaker diarization",
  finalize: "Finishing",
} satisfies Record<Status | Step | "open", string> as Readonly<Record<string, string>>;

/** Returns the text of a status or step for a progress row. */
export function progressText(step: string): string {
  return progressTexts[step] ?? step;
}

/** Formats a time as briefly as possible, e.g. `0:07.4` or `1:02:07.4`. */
export function clockTime(seconds: number): string {
  const tenths = Math.round(seconds * 10);
  const rest = ((tenths % 600) / 10).toFixed(1).padStart(4, "0");
  const minutes = Math.floor(tenths / 600);
  const hours = Math.floor(minutes / 60);
  return hours > 0 ? `${hours}:${String(minutes % 60).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}

/**
 * Formats a transcript for people: time, speaker and text of each segment.
 * @param columns by default the width of the terminal
 */
export function transcriptText(
  segments: readonly Pick<SegmentResource, "start" | "end" | "speaker" | "text">[],
  columns = process.stdout.columns ?? 100,
): string {
  return segments
    .map(({ start, end, speaker, text }) => {
      const head = `${clockTime(start).padStart(7)} – ${clockTime(end).padEnd(7)}  ${printable(speaker)}  `;
      const lines = wrapped(text, Math.max(20, columns - head.length));
      return `${head}${lines.join(`\n${" ".repeat(head.length)}`)}\n`;
    })
    .join("");
}

/** Breaks a text at spaces into printable lines of at most `columns` columns; a longer word stays whole. */
export function wrapped(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of printable(text).split(" ")) {
    if (line === "") line = word;
    else if (Bun.stringWidth(line) + 1 + Bun.stringWidth(word) <= columns) line += ` ${word}`;
    else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line];
}
