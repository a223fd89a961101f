import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { TestServer } from "../../harness/server.ts";
import { childrenOf, commandOf, cpuSecondsOf, residentBytesOf } from "../shared/processes.ts";

/** A sample of a server's resources, in bytes. */
export interface Sample {
  /** The phase, as the caller has set it. */
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

/**
 * Samples the resident memory of a server and its children, and the size of its data directory, until it is disposed
 * of.
 */
export class ServerWatch implements Disposable {
  readonly samples: Sample[] = [];
  phase = "";
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(server: TestServer) {
    this.#timer = setInterval(() => this.#sample(server), SAMPLE_MILLISECONDS);
  }

  /** Returns the maximum in some phases, or in all. */
  peak(what: Exclude<keyof Sample, "phase">, ...phases: readonly string[]): number {
    const seen = this.samples.filter(({ phase }) => phases.length === 0 || phases.includes(phase));
    return seen.reduce((most, sample) => Math.max(most, sample[what]), 0);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #sample(server: TestServer): void {
    let pid: number;
    try {
      pid = server.pid;
    } catch {
      return;
    }
    const children = childrenOf(pid);
    const isWorker = (child: number) => commandOf(child).includes("__worker");
    const most = (pids: readonly number[]) => Math.max(0, ...pids.map(residentBytesOf));
    this.samples.push({
      phase: this.phase,
      serverBytes: residentBytesOf(pid),
      workerBytes: most(children.filter(isWorker)),
      childBytes: most(children.filter((child) => !isWorker(child))),
      diskBytes: this.samples.length % SAMPLES_PER_DISK_SAMPLE === 0 ? sizeOf(server.dataDirectory) : 0,
    });
  }
}

/** Returns the CPU seconds of a server and its children, including children that have exited. */
export function processorSeconds(server: TestServer): number {
  const { pid } = server;
  return [pid, ...childrenOf(pid)].reduce((summarize, each) => summarize + cpuSecondsOf(each), 0);
}

/** Returns the total size of all files below a directory. */
export function sizeOf(directory: string): number {
  let bytes = 0;
  for (const name of readdirSync(directory, { recursive: true, encoding: "utf8" })) {
    const found = statSync(join(directory, name), { throwIfNoEntry: false });
    if (found?.isFile()) bytes += found.size;
  }
  return bytes;
}

/** Reports and times the phases of a server that is watched; `took` contains the seconds of each phase. */
export function phasesOf(watch: ServerWatch, reportProgress: (text: string) => void) {
  const took = new Map<string, number>();
  const timed = async <T>(phase: string, work: () => Promise<T>): Promise<T> => {
    watch.phase = phase;
    reportProgress(phase);
    const since = performance.now();
    const result = await work();
    took.set(phase, (took.get(phase) ?? 0) + (performance.now() - since) / 1000);
    return result;
  };
  return { took, timed };
}

const TICK_MILLISECONDS = 10;

/**
 * A GET: its duration, how long this process itself was blocked during it, both in milliseconds, and the server's step.
 */
interface Poll {
  readonly took: number;
  readonly stalled: number;
  readonly during: string;
}

/** Measures the durations of GETs, and how much of them is due to this process being busy. */
export class TimedPolls implements Disposable {
  readonly #polls: Poll[] = [];
  readonly #timer: ReturnType<typeof setInterval>;
  #tickedAt = performance.now();
  #longestGap = 0;

  constructor() {
    this.#timer = setInterval(() => this.#tick(), TICK_MILLISECONDS);
  }

  get count(): number {
    return this.#polls.length;
  }

  /** Sends a request and records its duration. */
  async time<T>(during: string, ask: () => Promise<T>): Promise<T> {
    this.#tick();
    this.#longestGap = 0;
    const asked = performance.now();
    const answer = await ask();
    const took = performance.now() - asked;
    this.#tick();
    this.#polls.push({ took, stalled: Math.max(0, this.#longestGap - TICK_MILLISECONDS), during });
    return answer;
  }

  /** Returns the 99th percentile in milliseconds, and the slowest request. */
  sum(): { readonly p99: number; readonly slowest: Poll } {
    const polls = this.#polls.toSorted((a, b) => a.took - b.took);
    const none = { took: 0, stalled: 0, during: "" };
    return { p99: polls[Math.floor(polls.length * 0.99)]?.took ?? 0, slowest: polls.at(-1) ?? none };
  }

  /** Describes the number of requests and the slowest one for the table. */
  describe(): string {
    const { took, stalled, during } = this.sum().slowest;
    const own = stalled > took / 10 ? `, ${stalled.toFixed(0)} ms of it in this process` : "";
    return `${this.count} polls, the slowest during ${during || "queued"}${own}`;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    const now = performance.now();
    this.#longestGap = Math.max(this.#longestGap, now - this.#tickedAt);
    this.#tickedAt = now;
  }
}
