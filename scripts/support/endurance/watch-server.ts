import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { TestServer } from "../../../test/support/server.ts";

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
/** USER_HZ, which Linux gives in units of its own since 2.6. */
const ticksPerSecond = 100;

/** Looks at the resident memory of a server and its children, and at its data directory, until it is disposed of. */
export class ServerWatch implements Disposable {
  readonly samples: Sample[] = [];
  phase = "";
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(server: TestServer) {
    this.#timer = setInterval(() => this.#look(server), everyMilliseconds);
  }

  /** The most that was seen, in any of the phases or in all. */
  most(what: Exclude<keyof Sample, "phase">, ...phases: readonly string[]): number {
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
    const children = read(`/proc/${pid}/task/${pid}/children`)
      .split(" ")
      .filter((child) => child !== "");
    const isWorker = (child: string) => read(`/proc/${child}/cmdline`).includes("__worker");
    const most = (pids: readonly string[]) => Math.max(0, ...pids.map(residentBytes));
    this.samples.push({
      phase: this.phase,
      serverBytes: residentBytes(String(pid)),
      workerBytes: most(children.filter(isWorker)),
      childBytes: most(children.filter((child) => !isWorker(child))),
      diskBytes: this.samples.length % looksPerDiskLook === 0 ? sizeOf(server.dataDirectory) : 0,
    });
  }
}

/** Processor seconds that a server and its children have taken, those that ended as well. */
export function processorSeconds(server: TestServer): number {
  const pid = String(server.pid);
  const children = read(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean);
  const ticks = [pid, ...children].flatMap((one) =>
    read(`/proc/${one}/stat`)
      .replace(/^.*\) /s, "")
      .split(" ")
      .slice(11, 15)
      .map(Number),
  );
  return ticks.reduce((sum, one) => sum + one, 0) / ticksPerSecond;
}

function residentBytes(pid: string): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) * 1024;
}

/** Processes and files come and go. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
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
