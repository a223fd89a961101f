import type { ServerStatus } from "../server/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { type Notify, notifySocket } from "./notify-socket.ts";

/** Returns a server's status; throws when the server cannot continue. */
type ReadStatus = () => ServerStatus;

interface SupervisorOptions {
  readonly notify: Notify;
  /** Silence after which the service manager kills the server; null when it does not watch the server. */
  readonly watchdogMilliseconds: number | null;
  readonly log: Logger;
}

/** Interval of status reports when no watchdog requires a shorter one. */
const REPORT_MILLISECONDS = 5000;

/**
 * Reports to the service manager that started the server: that it serves, its status, that it lives, that it stops.
 * Reports come from the event loop and only after the server has returned its status. So a server that hangs or cannot
 * read its database is silent, and the service manager restarts it.
 */
export class Supervisor {
  readonly #options: SupervisorOptions;
  #stopping = false;
  #failing = false;
  #isReachable = true;

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  /** Reports that the server listens, and reports its status regularly until the process exits. */
  ready(read: ReadStatus): void {
    const report = () => this.#report(read);
    report();
    const watchdog = this.#options.watchdogMilliseconds ?? Number.POSITIVE_INFINITY;
    setInterval(report, Math.min(REPORT_MILLISECONDS, watchdog / 2)).unref();
  }

  /** Reports that the server stops; watchdog messages continue until it has stopped. */
  stopping(): void {
    this.#stopping = true;
    this.#send(["STOPPING=1", "STATUS=Stopping; running recordings are suspended at their next checkpoint."]);
  }

  #report(read: ReadStatus): void {
    if (this.#stopping) {
      this.#send(["WATCHDOG=1"]);
      return;
    }
    const { log } = this.#options;
    let status: string;
    try {
      status = statusText(read());
    } catch (error) {
      if (!this.#failing) log.error({ event: "supervisor.server_fails", err: error });
      this.#failing = true;
      return;
    }
    this.#failing = false;
    // READY is sent each time: a manager that knows it ignores it, and one that missed it still waits for it.
    this.#send(["READY=1", "WATCHDOG=1", `STATUS=${status}`]);
  }

  #send(lines: readonly string[]): void {
    const isReachable = this.#options.notify(lines);
    if (this.#isReachable && !isReachable) this.#options.log.warn({ event: "supervisor.unreachable" });
    this.#isReachable = isReachable;
  }
}

function statusText({ trouble, processing, queued }: ServerStatus): string {
  const work = `${processing} processing, ${queued} queued`;
  // A line break would start another assignment.
  return trouble === null ? `Ready; ${work}.` : `Not ready: ${trouble.replace(/\s+/g, " ")}; ${work}.`;
}

/**
 * Returns the service manager that started this process, by its environment (sd_notify(3)); null when there is none.
 */
export function findSupervisor(
  environment: Readonly<Record<string, string | undefined>>,
  pid: number,
  log: Logger,
): Supervisor | null {
  const { NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID } = environment;
  if (NOTIFY_SOCKET === undefined || NOTIFY_SOCKET === "") return null;
  const notify = notifySocket(NOTIFY_SOCKET);
  if (notify === null) {
    log.warn({ event: "supervisor.unreachable" });
    return null;
  }
  const watched = WATCHDOG_PID === undefined || WATCHDOG_PID === String(pid);
  const watchdogMilliseconds = watched && /^[1-9]\d*$/.test(WATCHDOG_USEC ?? "") ? Number(WATCHDOG_USEC) / 1000 : null;
  return new Supervisor({ notify, watchdogMilliseconds, log });
}
