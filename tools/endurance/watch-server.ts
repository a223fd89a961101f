import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { TestClient } from "../../harness/client.ts";
import type { Segment } from "../../harness/contract.ts";
import type { TestServer } from "../../harness/server.ts";
import { inMib, quantile } from "../shared/figures.ts";
import { childrenOf, commandOf, cpuSecondsOf, residentBytesOf } from "../shared/processes.ts";
import { type Row, row } from "./rows.ts";

/** A sample of a server's resources, in bytes. */
interface Sample {
  readonly phase: string;
  readonly serverBytes: number;
  /** The largest of its engine workers; 0 without a worker. */
  readonly workerBytes: number;
  /** The largest of its other children: ffmpeg, exports. */
  readonly childBytes: number;
  /** 0 when it was not sampled. */
  readonly diskBytes: number;
}

const SAMPLE_MILLISECONDS = 500;
/** Samples per measurement of the disk, which takes long with thousands of files. */
const SAMPLES_PER_DISK_SAMPLE = 10;
const TICK_MILLISECONDS = 10;

/**
 * Measures a server until it is disposed of: the resident memory of the server and its children, the size of its data
 * directory, the time of phases, and the durations of GETs.
 */
export class ServerWatch implements Disposable {
  /** Duration and CPU time of each phase in seconds. */
  readonly took: Readonly<Record<"seconds" | "cpuSeconds", Map<string, number>>>;
  readonly #server: TestServer;
  readonly #reportProgress: (text: string) => void;
  readonly #timers: readonly ReturnType<typeof setInterval>[];
  readonly #samples: Sample[] = [];
  /** Durations of GETs, how long this process itself was blocked during each, both in milliseconds, and the phase. */
  readonly #polls: { readonly took: number; readonly stalled: number; readonly during: string }[] = [];
  #phase = { name: "", since: 0, cpuSecondsBefore: 0 };
  #tickedAt = performance.now();
  #longestGap = 0;

  constructor(server: TestServer, reportProgress: (text: string) => void) {
    this.#server = server;
    this.#reportProgress = reportProgress;
    this.took = { seconds: new Map(), cpuSeconds: new Map() };
    this.#timers = [
      setInterval(() => this.#sample(), SAMPLE_MILLISECONDS),
      setInterval(() => this.#tick(), TICK_MILLISECONDS),
    ];
  }

  /** Begins a phase and ends the previous one; an empty name only ends it. Nothing happens in the phase itself. */
  begin(name: string): void {
    const before = this.#phase;
    if (before.name === name) return;
    const [now, cpuSeconds] = [performance.now(), this.#cpuSeconds()];
    if (before.name !== "") {
      add(this.took.seconds, before.name, (now - before.since) / 1000);
      add(this.took.cpuSeconds, before.name, cpuSeconds - before.cpuSecondsBefore);
    }
    this.#phase = { name, since: now, cpuSecondsBefore: cpuSeconds };
    if (name !== "") this.#reportProgress(name);
  }

  async run<T>(phase: string, work: () => Promise<T>): Promise<T> {
    this.begin(phase);
    const result = await work();
    this.begin("");
    return result;
  }

  seconds(phase: string): number {
    return this.took.seconds.get(phase) ?? 0;
  }

  /** Returns the maximum in some phases, or in all. */
  peak(what: Exclude<keyof Sample, "phase">, ...phases: readonly string[]): number {
    const seen = this.#samples.filter(({ phase }) => phases.length === 0 || phases.includes(phase));
    return seen.reduce((most, sample) => Math.max(most, sample[what]), 0);
  }

  /** Sends a GET and records its duration, and how much of it is due to this process being busy. */
  async poll<T>(ask: () => Promise<T>): Promise<T> {
    const during = this.#phase.name;
    this.#tick();
    this.#longestGap = 0;
    const asked = performance.now();
    const answer = await ask();
    const took = performance.now() - asked;
    this.#tick();
    this.#polls.push({ took, stalled: Math.max(0, this.#longestGap - TICK_MILLISECONDS), during });
    return answer;
  }

  /** Returns the row of all GETs. @param target their 99th percentile, and their maximum if it has one */
  pollRow(measured: string, target: { readonly p99: number; readonly maximum?: number }): Row {
    const p99 = quantile(
      this.#polls.map(({ took }) => took),
      0.99,
    );
    const slowest = this.#polls.reduce((most, poll) => (poll.took > most.took ? poll : most));
    const { took, stalled, during } = slowest;
    const own = stalled > took / 10 ? `, ${stalled.toFixed(0)} ms of it in this process` : "";
    const { maximum = Number.POSITIVE_INFINITY } = target;
    return row(
      measured,
      `p99 ${p99.toFixed(0)} ms, maximum ${took.toFixed(0)} ms`,
      `${this.#polls.length} polls, the slowest during ${during || "queued"}${own}`,
      `p99 ${target.p99} ms${maximum === Number.POSITIVE_INFINITY ? "" : `, maximum ${maximum} ms`}`,
      p99 < target.p99 && took < maximum,
    );
  }

  [Symbol.dispose](): void {
    for (const timer of this.#timers) clearInterval(timer);
  }

  #tick(): void {
    const now = performance.now();
    this.#longestGap = Math.max(this.#longestGap, now - this.#tickedAt);
    this.#tickedAt = now;
  }

  /** Returns the server's process and its children; none while it does not run. */
  #processes(): number[] {
    try {
      return [this.#server.pid, ...childrenOf(this.#server.pid)];
    } catch {
      return [];
    }
  }

  /** Returns the CPU seconds of the server and its children, including children that have exited. */
  #cpuSeconds(): number {
    return this.#processes().reduce((sum, pid) => sum + cpuSecondsOf(pid), 0);
  }

  #sample(): void {
    const [server, ...children] = this.#processes();
    if (server === undefined) return;
    const isWorker = (child: number) => commandOf(child).includes("__worker");
    const most = (pids: readonly number[]) => Math.max(0, ...pids.map(residentBytesOf));
    const isDue = this.#samples.length % SAMPLES_PER_DISK_SAMPLE === 0;
    this.#samples.push({
      phase: this.#phase.name,
      serverBytes: residentBytesOf(server),
      workerBytes: most(children.filter(isWorker)),
      childBytes: most(children.filter((child) => !isWorker(child))),
      diskBytes: isDue ? sizeOf(this.#server.dataDirectory) : 0,
    });
  }
}

function add(sums: Map<string, number>, name: string, value: number): void {
  sums.set(name, (sums.get(name) ?? 0) + value);
}

/** Returns the total size of all files below a directory. */
export function sizeOf(directory: string): number {
  const sizes = readdirSync(directory, { recursive: true, encoding: "utf8" }).map((name) => {
    const found = statSync(join(directory, name), { throwIfNoEntry: false });
    return found?.isFile() ? found.size : 0;
  });
  return sizes.reduce((sum, size) => sum + size, 0);
}

const PAGE_SEGMENTS = 100;
const FORMATS = ["txt", "srt", "vtt", "pdf", "docx", "json", "textgrid", "eaf"];
const PATIENCE_SECONDS = 60;

/** A completed recording that was read, with the measurements of its server. */
export interface Reading {
  readonly watch: ServerWatch;
  readonly segments: readonly Segment[];
  /** Size in bytes by format. */
  readonly exports: ReadonlyMap<string, number>;
}

/** Reads a completed recording's pages and exports, each in a phase. @throws {Error} when one of them fails */
export async function readResults(watch: ServerWatch, client: TestClient, id: string): Promise<Reading> {
  const segments = await watch.run("pages", () => client.segments(id, PAGE_SEGMENTS));
  const exports = new Map<string, number>();
  for (const format of FORMATS) {
    const bytes = await watch.run(format, async () => {
      const response = await client.fetch(`/transcriptions/${id}/export?format=${format}`);
      if (!response.ok) throw new Error(`the export as ${format} failed: ${await response.text()}`);
      return (await response.arrayBuffer()).byteLength;
    });
    exports.set(format, bytes);
  }
  return { watch, segments, exports };
}

export function readingRows({ watch, segments, exports }: Reading): Row[] {
  const timed = (measured: string, phase: string, over: string) => {
    const seconds = watch.seconds(phase);
    return row(measured, `${seconds.toFixed(1)} s`, over, `${PATIENCE_SECONDS} s`, seconds < PATIENCE_SECONDS);
  };
  const memory = (format: string) => {
    const [server, child] = [watch.peak("serverBytes", format), watch.peak("childBytes", format)].map(inMib);
    return `server ${server}, its child ${child}`;
  };
  return [
    timed("all pages of segments", "pages", `${segments.length} segments, ${PAGE_SEGMENTS} a page`),
    ...[...exports].map(([format, bytes]) => {
      return timed(`export as ${format}`, format, `${inMib(bytes)}; ${memory(format)}`);
    }),
  ];
}
