import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { TestServer } from "../../../test/support/server.ts";
import { childrenOf, commandOf, cpuSecondsOf, residentBytesOf } from "../processes.ts";

/** What a server took at a moment, in bytes. */
export interface Sample {
  /** What the server was at, as whoever watches says. */
  readonly phase: string;
  readonly serverBytes: number;
  /** The greatest of its engine workers'; 0 where there is none. */
  readonly workerBytes: number;
  /** The greatest of its other children's: ffmpeg, exports. */
  readonly childBytes: number;
  /** 0 where it was not looked at. */
  readonly diskBytes: number;
}

const everyMilliseconds = 500;
/** To look at the thousands of files of days holds up whoever watches. */
const looksPerDiskLook = 10;

/** Looks at the resident memory of a server and its children, and at its data directory, until it is disposed of. */
export class ServerWatch implements Disposable {
  readonly samples: Sample[] = [];
  phase = "";
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(server: TestServer) {
    this.#timer = setInterval(() => this.#look(server), everyMilliseconds);
  }

  /** The most that was seen, in any of the phases or in all. */
  peak(what: Exclude<keyof Sample, "phase">, ...phases: readonly string[]): number {
    const seen = this.samples.filter(({ phase }) => phases.length === 0 || phases.includes(phase));
    return seen.reduce((most, sample) => Math.max(most, sample[what]), 0);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #look(server: TestServer): void {
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
      diskBytes: this.samples.length % looksPerDiskLook === 0 ? sizeOf(server.dataDirectory) : 0,
    });
  }
}

/** Processor seconds that a server and its children have taken, those that ended as well. */
export function processorSeconds(server: TestServer): number {
  const { pid } = server;
  return [pid, ...childrenOf(pid)].reduce((summarize, each) => summarize + cpuSecondsOf(each), 0);
}

/** Bytes of all files in a directory and below. */
export function sizeOf(directory: string): number {
  let bytes = 0;
  for (const name of readdirSync(directory, { recursive: true, encoding: "utf8" })) {
    const found = statSync(join(directory, name), { throwIfNoEntry: false });
    if (found?.isFile()) bytes += found.size;
  }
  return bytes;
}

/** Says and times what is done with a server that is watched: `took` has the seconds of each phase. */
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

const tickMilliseconds = 10;

/** One GET: what it took, what of that this process itself stood still, in milliseconds, and what the server was at. */
interface Poll {
  readonly took: number;
  readonly stalled: number;
  readonly during: string;
}

/** What GETs took, and how much of it was this process, which has other things to do than to wait for answers. */
export class TimedPolls implements Disposable {
  readonly #polls: Poll[] = [];
  readonly #timer: ReturnType<typeof setInterval>;
  #tickedAt = performance.now();
  #longestGap = 0;

  constructor() {
    this.#timer = setInterval(() => this.#tick(), tickMilliseconds);
  }

  get count(): number {
    return this.#polls.length;
  }

  /** Asks, and remembers how long that took. */
  async time<T>(during: string, ask: () => Promise<T>): Promise<T> {
    this.#tick();
    this.#longestGap = 0;
    const asked = performance.now();
    const answer = await ask();
    const took = performance.now() - asked;
    this.#tick();
    this.#polls.push({ took, stalled: Math.max(0, this.#longestGap - tickMilliseconds), during });
    return answer;
  }

  /** What all but a hundredth took at most, in milliseconds, and the slowest. */
  sum(): { readonly p99: number; readonly slowest: Poll } {
    const polls = this.#polls.toSorted((a, b) => a.took - b.took);
    const none = { took: 0, stalled: 0, during: "" };
    return { p99: polls[Math.floor(polls.length * 0.99)]?.took ?? 0, slowest: polls.at(-1) ?? none };
  }

  /** For the table: how many there were, and what the slowest of them met. */
  describe(): string {
    const { took, stalled, during } = this.sum().slowest;
    const own = stalled > took / 10 ? `, ${stalled.toFixed(0)} ms of it this process` : "";
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
