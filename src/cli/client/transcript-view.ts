import type { SegmentResource } from "../../http/index.ts";
import { printable } from "../printable.ts";

/** Formats a time as briefly as possible, e.g. `0:07.4` or `1:02:07.4`. */
export function clock(seconds: number): string {
  const tenths = Math.round(seconds * 10);
  const rest = ((tenths % 600) / 10).toFixed(1).padStart(4, "0");
  const minutes = Math.floor(tenths / 600);
  const hours = Math.floor(minutes / 60);
  return hours > 0 ? `${hours}:${String(minutes % 60).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}

/** Formats a segment (time, speaker, text) in lines of at most `width` columns; continuation lines are indented. */
function segmentLines(segment: SegmentResource, width: number): string {
  const speaker = printable(segment.speaker);
  const head = `${clock(segment.start).padStart(7)} – ${clock(segment.end).padEnd(7)}  ${speaker}  `;
  const room = Math.max(20, width - head.length);
  const lines: string[] = [];
  let line = "";
  for (const word of printable(segment.text).split(" ")) {
    if (line !== "" && Bun.stringWidth(line) + 1 + Bun.stringWidth(word) > room) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line].map((text, index) => (index === 0 ? head : " ".repeat(head.length)) + text).join("\n");
}

/** Formats a transcript for people, at the width of the terminal. */
export function transcriptText(segments: readonly SegmentResource[]): string {
  const width = process.stdout.columns ?? 100;
  return segments.map((segment) => `${segmentLines(segment, width)}\n`).join("");
}
