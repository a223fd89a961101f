import type { SegmentResource } from "../../http/index.ts";

/** `0:07.4`, `1:02:07.4`: as short as a time can be read. */
export function clock(seconds: number): string {
  const tenths = Math.round(seconds * 10);
  const rest = ((tenths % 600) / 10).toFixed(1).padStart(4, "0");
  const minutes = Math.floor(tenths / 600);
  const hours = Math.floor(minutes / 60);
  return hours > 0 ? `${hours}:${String(minutes % 60).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}

/** One segment as lines of at most `width` columns: time, speaker, text; the text's later lines are indented under it. */
export function segmentLines(segment: SegmentResource, width: number): string {
  const head = `${clock(segment.start).padStart(7)} – ${clock(segment.end).padEnd(7)}  ${segment.speaker}  `;
  const room = Math.max(20, width - head.length);
  const lines: string[] = [];
  let line = "";
  for (const word of segment.text.split(" ")) {
    if (line !== "" && Bun.stringWidth(line) + 1 + Bun.stringWidth(word) > room) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line].map((text, index) => (index === 0 ? head : " ".repeat(head.length)) + text).join("\n");
}

/** A bar on a terminal's standard error; elsewhere a line whenever the step changes. */
export class ProgressView {
  readonly #terminal = process.stderr.isTTY === true;
  #shown = "";

  show(step: string, percent: number | null): void {
    const filled = Math.round((percent ?? 0) / 4);
    const bar = `${"█".repeat(filled)}${"░".repeat(25 - filled)}`;
    if (this.#terminal)
      process.stderr.write(`\r\x1b[K${bar} ${percent === null ? "  …" : `${percent}`.padStart(3)} %  ${step}`);
    else if (step !== this.#shown) process.stderr.write(`${step}\n`);
    this.#shown = step;
  }

  /** Leaves a clean line. */
  end(): void {
    if (this.#terminal && this.#shown !== "") process.stderr.write("\r\x1b[K");
  }
}
