import type { TestClient } from "../../harness/client.ts";
import type { Segment } from "../../harness/contract.ts";
import type { TestServer } from "../../harness/server.ts";
import type { ServerWatch } from "./watch-server.ts";

/** One row of the table: the measurement, the data behind it, and its target. */
export interface Row {
  readonly measured: string;
  readonly value: string;
  /** The data behind the value. */
  readonly over: string;
  readonly target: string;
  readonly ok: boolean;
}

/** Options of a part. */
export interface PartOptions {
  /** Seed of the random choices. */
  readonly seed: number;
  /** Length of the long recording in hours; by default the part's own. */
  readonly hours?: number | null;
  /** Reports progress to a terminal. */
  readonly reportProgress: (text: string) => void;
}

/** A part of scripts/endurance. It creates its files and servers and removes them afterwards. */
export type Part = (options: PartOptions) => Promise<Row[]>;

export const mib = 1024 ** 2;

export function inMib(bytes: number): string {
  return `${Math.round(bytes / mib)} MiB`;
}

const pageSegments = 100;
const formats = ["txt", "srt", "vtt", "pdf", "docx", "json", "textgrid", "eaf"];
const patienceSeconds = 60;

/** The segments and exports of a recording. */
export interface Reading {
  readonly segments: readonly Segment[];
  /** Size in bytes by format. */
  readonly exports: ReadonlyMap<string, number>;
}

/** Runs a phase and measures its duration. */
export type Timed = <T>(phase: string, work: () => Promise<T>) => Promise<T>;

/** Reads a completed recording's pages and exports, each in a phase. @throws {Error} when one of them fails */
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

/** Returns the rows for the pages and the exports. */
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
