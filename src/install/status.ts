import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { findRunningServer, originOf, trustOf } from "../api-contract/index.ts";
import type { Settings } from "../config/index.ts";
import { readCurrentStatus } from "../replication/index.ts";
import { DataPaths, isStandby, readStandbyMarker } from "../storage/index.ts";
import type { ServiceRole } from "./layout.ts";
import type { unitState } from "./manager.ts";

/** Status of the service, however it was started. */
export interface ServiceStatus {
  readonly ready: boolean;
  /** Reason why it is not ready; null when it is. */
  readonly trouble: string | null;
  readonly unit: ReturnType<typeof unitState>;
  /** Origin at which the server is queried; null for a worker or standby. */
  readonly origin: string | null;
  readonly pid: number | null;
  readonly version: string | null;
  /** The server that a standby follows; null for a server or worker. */
  readonly follows: string | null;
  /** Number of queued and processing recordings; null when the server does not report it. */
  readonly queue: { readonly queued: number; readonly processing: number } | null;
}

const REQUEST_TIMEOUT_MILLISECONDS = 5000;

/**
 * Reads the status of the server of these settings from its unit, the server state file and the server's own responses.
 * If its data directory cannot be read, the server is queried at the address in the settings.
 */
export async function readStatus(
  settings: Settings,
  unit: ServiceStatus["unit"],
  role: ServiceRole,
): Promise<ServiceStatus> {
  if (role === "worker") return workerStatus(unit);
  const paths = new DataPaths(settings.storage.data_dir);
  if (isStandby(paths)) return standbyStatus(paths, unit);
  const running = await findRunningServer(paths);
  const origin = running?.origin ?? originOf(settings.server);
  const ask = async (path: string): Promise<Response | null> => {
    const trust = running === null ? {} : trustOf(running);
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MILLISECONDS);
    return fetch(`${origin}${path}`, { signal, ...trust }).catch(() => null);
  };
  const readiness = await ask("/readyz");
  const trouble = await reasonNotReady(readiness, origin);
  return {
    ready: trouble === null,
    trouble,
    unit,
    origin,
    pid: running?.pid ?? unit?.pid ?? null,
    version: running?.version ?? null,
    follows: null,
    queue: readiness === null ? null : await queueOf(await ask("/metrics")),
  };
}

/** Returns the status of a fleet's worker, as it reports it to systemd. */
function workerStatus(unit: ServiceStatus["unit"]): ServiceStatus {
  const reported = /^Not ready: (.*); \d+ processing, \d+ queued\.$/.exec(unit?.says ?? "")?.[1] ?? null;
  const trouble =
    unit === null
      ? "systemd does not run, or does not know the unit"
      : unit.active === "active"
        ? reported
        : `the unit is ${unit.active} (${unit.sub})`;
  const ready = trouble === null;
  return { ready, trouble, unit, origin: null, pid: unit?.pid ?? null, version: null, follows: null, queue: null };
}

/** Returns the status of a standby, as it writes it each second. It is ready while it follows. */
function standbyStatus(paths: DataPaths, unit: ServiceStatus["unit"]): ServiceStatus {
  const running = readCurrentStatus(paths, Date.now());
  const { phase = null, from = null, pid = unit?.pid ?? null, version = null } = running ?? {};
  const trouble =
    running === null
      ? "the standby does not run"
      : phase === "following"
        ? null
        : phase === "connecting"
          ? `${from} cannot be reached`
          : `the first copy of ${from} is not complete`;
  return {
    ready: trouble === null,
    trouble,
    unit,
    origin: null,
    pid,
    version,
    follows: from ?? readStandbyMarker(paths)?.from ?? "",
    queue: null,
  };
}

async function reasonNotReady(readiness: Response | null, origin: string): Promise<string | null> {
  if (readiness === null) return `no server answers at ${origin}`;
  if (readiness.ok) return null;
  const answer: unknown = await readiness.json().catch(() => null);
  return Value.Check(errorSchema, answer)
    ? answer.message.replace(/^Not ready: /, "")
    : `${origin}/readyz answers ${readiness.status}`;
}

const errorSchema = Type.Object({ message: Type.String() });

/** Returns the server's own count, from its metrics for Prometheus. */
async function queueOf(metrics: Response | null): Promise<{ queued: number; processing: number } | null> {
  if (metrics?.ok !== true) return null;
  const lines = (await metrics.text()).split("\n").filter((line) => line.startsWith("transcribe_recordings_open{"));
  const count = (status: string) =>
    lines
      .filter((line) => line.includes(`status="${status}"`))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
  return { queued: count("queued"), processing: count("processing") };
}
