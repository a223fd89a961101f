import type { Standing } from "../server/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { type Notify, notifySocket } from "./notify-socket.ts";

/** What a server says of itself; throws when it can't go on. */
export type ReadStanding = () => Standing;

export interface SupervisorOptions {
  readonly notify: Notify;
  /** The service manager ends a server that says nothing for so long; null when it doesn't watch. */
  readonly watchdogMilliseconds: number | null;
  readonly log: Logger;
}

/** How often the standing is told where no watchdog asks for more. */
const tellEveryMilliseconds = 5000;

/**
 * What a server tells the service manager that started it: that it serves, how it stands, that it lives, that it stops. It
 * tells from the event loop and only after the server has said how it stands, so one that hangs or can't read its database
 * is silent, and is ended and started again.
 */
export class Supervisor {
  readonly #options: SupervisorOptions;
  #stopping = false;
  #failing = false;
  #heard = true;

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  /** The server listens. From here on it is asked how it stands until the process ends. */
  ready(read: ReadStanding): void {
    const tell = () => this.#tell(read);
    tell();
    const watchdog = this.#options.watchdogMilliseconds ?? Number.POSITIVE_INFINITY;
    setInterval(tell, Math.min(tellEveryMilliseconds, watchdog / 2)).unref();
  }

  /** The server stops; the signs of life go on until it has. */
  stopping(): void {
    this.#stopping = true;
    this.#send(["STOPPING=1", "STATUS=Stopping; what runs is parked at its next checkpoint."]);
  }

  #tell(read: ReadStanding): void {
    if (this.#stopping) {
      this.#send(["WATCHDOG=1"]);
      return;
    }
    const { log } = this.#options;
    let status: string;
    try {
      status = inWords(read());
    } catch (error) {
      if (!this.#failing) log.error({ event: "supervisor.server_fails", err: error });
      this.#failing = true;
      return;
    }
    this.#failing = false;
    // READY is said each time: it means nothing to a manager that knows, and one that missed it waits for it.
    this.#send(["READY=1", "WATCHDOG=1", `STATUS=${status}`]);
  }

  #send(lines: readonly string[]): void {
    const heard = this.#options.notify(lines);
    if (this.#heard && !heard) this.#options.log.warn({ event: "supervisor.unreachable" });
    this.#heard = heard;
  }
}

function inWords({ trouble, processing, queued }: Standing): string {
  const work = `${processing} processing, ${queued} queued`;
  // A line of its own would be an assignment of its own.
  return trouble === null ? `Ready; ${work}.` : `Not ready: ${trouble.replace(/\s+/g, " ")}; ${work}.`;
}

/** The service manager that started this process, by the environment that it gave (sd_notify(3)); null where none did. */
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
