import type { TestClient } from "../../../test/support/client.ts";
import type { Segment } from "../../../test/support/contract.ts";
import type { TestServer } from "../../../test/support/server.ts";
import type { ServerWatch } from "./watch-server.ts";

/** One line of the table: what was measured, over how much, and what it should be. */
export interface Row {
  readonly measured: string;
  readonly value: string;
  /** What it was measured over. */
  readonly over: string;
  readonly target: string;
  readonly ok: boolean;
}

/** What a part is run with. */
export interface PartOptions {
  /** What is drawn by lot follows from it. */
  readonly seed: number;
  /** Length of the long recording, in hours, where another than the part's own is wanted. */
  readonly hours?: number | null;
  /** Says how far it is, for a terminal. */
  readonly reportProgress: (text: string) => void;
}

/** One trial: it makes what it needs, and leaves nothing behind. */
export type Part = (options: PartOptions) => Promise<Row[]>;

export const mib = 1024 ** 2;

export function inMib(bytes: number): string {
  return `${Math.round(bytes / mib)} MiB`;
}

const pageSegments = 100;
const formats = ["txt", "srt", "vtt", "pdf", "docx"];
const patienceSeconds = 60;

/** All that can be read of a recording. */
export interface Reading {
  readonly segments: readonly Segment[];
  /** Bytes, by format. */
  readonly exports: ReadonlyMap<string, number>;
}

/** Does a phase of the work, and notes how long it takes. */
export type Timed = <T>(phase: string, work: () => Promise<T>) => Promise<T>;

/** Reads a completed recording's pages and exports, each in a phase. @throws Error where one can't be had */
export async function readAll(server: TestServer, client: TestClient, id: string, timed: Timed): Promise<Reading> {
  const segments = await timed("pages", () => client.segments(id, pageSegments));
  const exports = new Map<string, number>();
  for (const format of formats) {
    const bytes = await timed(format, async () => {
      const answer = await client.fetch(`/transcriptions/${id}/export?format=${format}`);
      if (!answer.ok) throw new Error(`the export as ${format} failed\n${server.tail()}`);
      return (await answer.arrayBuffer()).byteLength;
    });
    exports.set(format, bytes);
  }
  return { segments, exports };
}

/** Lines of the table for the pages and the exports. */
export function readingRows(reading: Reading, took: ReadonlyMap<string, number>, watch: ServerWatch): Row[] {
  const seconds = (phase: string) => took.get(phase) ?? 0;
  return [
    {
      measured: "all pages of segments",
      value: `${seconds("pages").toFixed(1)} s`,
      over: `${reading.segments.length} segments, ${pageSegments} a page`,
      target: `${patienceSeconds} s`,
      ok: seconds("pages") < patienceSeconds,
    },
    ...[...reading.exports].map(([format, bytes]) => ({
      measured: `export as ${format}`,
      value: `${seconds(format).toFixed(1)} s`,
      over: `${inMib(bytes)}; server ${inMib(watch.peak("serverBytes", format))}, its child ${inMib(watch.peak("childBytes", format))}`,
      target: `${patienceSeconds} s`,
      ok: seconds(format) < patienceSeconds,
    })),
  ];
}
