import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Settings } from "../config/index.ts";
import { findRunningServer, originOf, trustOf } from "../server/index.ts";
import { DataPaths } from "../storage/index.ts";
import type { Machine } from "./machine.ts";
import { type UnitState, unitState } from "./manager.ts";

/** How the service stands, wherever it was started from. */
export interface ServiceStatus {
  /** Whether it takes work. */
  readonly ready: boolean;
  /** Why not, in plain words; null when it does. */
  readonly trouble: string | null;
  /** What systemd says; null where it does not run or has no such unit. */
  readonly unit: UnitState | null;
  readonly pid: number | null;
  /** Version of the program that runs. */
  readonly version: string | null;
  /** Where the server is asked. */
  readonly origin: string;
  /** Recordings in hand; null where the server doesn't say. */
  readonly queue: { readonly queued: number; readonly processing: number } | null;
}

const patienceMilliseconds = 5000;

/**
 * Looks at the server of these settings: systemd's word, where the server itself noted that it listens, and its own answer.
 * Where its data directory can't be read, it is asked where the settings have it listen.
 */
export async function readStatus(settings: Settings, machine: Machine): Promise<ServiceStatus> {
  const unit = unitState(machine);
  const running = await findRunningServer(new DataPaths(settings.storage.data_dir));
  const origin = running?.origin ?? originOf(settings.server);
  const ask = async (path: string): Promise<Response | null> => {
    const trust = running === null ? {} : trustOf(running);
    const signal = AbortSignal.timeout(patienceMilliseconds);
    return fetch(`${origin}${path}`, { signal, ...trust }).catch(() => null);
  };
  const readiness = await ask("/readyz");
  const trouble = await troubleOf(readiness, origin);
  return {
    ...{ ready: trouble === null, trouble, unit, origin },
    pid: running?.pid ?? unit?.pid ?? null,
    version: running?.version ?? null,
    queue: readiness === null ? null : await queueOf(await ask("/metrics")),
  };
}

async function troubleOf(readiness: Response | null, origin: string): Promise<string | null> {
  if (readiness === null) return `no server answers at ${origin}`;
  if (readiness.ok) return null;
  const answer: unknown = await readiness.json().catch(() => null);
  return Value.Check(errorSchema, answer)
    ? answer.message.replace(/^Not ready: /, "")
    : `${origin}/readyz answers ${readiness.status}`;
}

const errorSchema = Type.Object({ message: Type.String() });

/** The server's own count, as it tells Prometheus. */
async function queueOf(metrics: Response | null): Promise<ServiceStatus["queue"]> {
  if (metrics?.ok !== true) return null;
  const lines = (await metrics.text()).split("\n").filter((line) => line.startsWith("transcribe_recordings_open{"));
  const count = (status: string) =>
    lines
      .filter((line) => line.includes(`status="${status}"`))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
  return { queued: count("queued"), processing: count("processing") };
}
