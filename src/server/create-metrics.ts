import { values } from "../database/index.ts";
import { type MachineTroubleKind, machineTroubles } from "../disk/index.ts";
import type { Engine } from "../engine/index.ts";
import { type FolderOverview, hindranceKinds } from "../folders/index.ts";
import { errorCodes } from "../http/index.ts";
import { programVersion } from "../program/index.ts";
import { failureKinds, type Recordings } from "../recordings/index.ts";
import type { BucketState, DiskUsage } from "../storage/index.ts";
import { type MetricSources, Metrics } from "../telemetry/index.ts";
import { wyomingErrorCodes } from "../wyoming/index.ts";

/** The parts of a server whose state the metrics show. */
export interface MeasuredParts {
  readonly recordings: Recordings;
  readonly disk: Pick<DiskUsage, "read">;
  readonly engine: Pick<Engine, "status">;
  readonly modelInUse: () => string;
  /** Returns when the current certificate expires, in seconds since the epoch; null without TLS. */
  readonly certificateEndsAt: () => number | null;
  /** Returns the trouble that each stalled recording waits for. */
  readonly stalled: () => readonly MachineTroubleKind[];
  /** Returns the fleet; null if the server works alone. */
  readonly fleet?: MetricSources["fleet"];
  /** Returns the lease; there is none if it is left out. */
  readonly lease?: MetricSources["lease"];
  /** Returns the watched folders; nothing is watched if it is left out. */
  readonly folders?: () => FolderOverview;
  /** Returns the live sessions; there are none if it is left out. */
  readonly live?: MetricSources["live"];
  /** Returns the webhooks; there are none if it is left out. */
  readonly webhooks?: MetricSources["webhooks"];
  /** Returns the audit entries that the syslog receiver has not confirmed; none are forwarded if it is left out. */
  readonly auditForwarding?: () => { readonly count: number; readonly since: number | null } | null;
  /** Returns the moves of audio to a bucket; there are none if it is left out. */
  readonly audioStore?: () => BucketState;
  /** Returns the standby; there is none if it is left out. */
  readonly standby?: MetricSources["standby"];
  readonly now: () => number;
}

/** Creates the metrics of a server. @param machine its name in its fleet; null if it works alone */
export function createMetrics(machine: string | null): Metrics {
  return new Metrics({
    version: programVersion,
    refusalCodes: errorCodes,
    wyomingErrorCodes,
    failures: failureKinds,
    liveEnds: values.liveEnds,
    machine,
  });
}

/** Returns the sources of metrics: values are read from the server's parts on demand. */
export function metricSources(parts: MeasuredParts): MetricSources {
  const { recordings, disk, engine, now } = parts;
  return {
    stalledRecordings() {
      const stalled = parts.stalled();
      return Object.keys(machineTroubles).map((trouble) => ({
        trouble,
        count: stalled.filter((kind) => kind === trouble).length,
      }));
    },
    openRecordings: () => recordings.open.countsByPriority(),
    oldestWaitingSeconds() {
      const since = recordings.open.longestQueuedSince();
      return since === null ? 0 : Math.max(0, (now() - since) / 1000);
    },
    engine() {
      const { state, trouble, workers, waiting } = engine.status();
      const isThere = state === "ready" || state === "asleep" || state === "waking";
      return { ready: isThere && trouble === null, asleep: state === "asleep", workers, waiting };
    },
    modelInUse: parts.modelInUse,
    disk: () => disk.read(),
    fleet: () => parts.fleet?.() ?? null,
    lease: () => parts.lease?.() ?? null,
    live: () => parts.live?.() ?? { open: 0, places: 0 },
    audioStore() {
      const { waiting, failingSince } = parts.audioStore?.() ?? { waiting: 0, failingSince: null };
      return { waiting, outageSeconds: failingSince === null ? 0 : (now() - failingSince) / 1000 };
    },
    webhooks: () => parts.webhooks?.() ?? { pending: 0, paused: 0 },
    auditForwarding() {
      const pending = parts.auditForwarding?.() ?? null;
      if (pending === null) return null;
      const { count, since } = pending;
      return { count, oldestSeconds: since === null ? 0 : Math.max(0, (now() - since) / 1000) };
    },
    standby: () => parts.standby?.() ?? null,
    certificateEndsAt: parts.certificateEndsAt,
    folders() {
      const { waiting = 0, hindered, done = 0, failed = 0 } = parts.folders?.() ?? {};
      return {
        waiting,
        done,
        failed,
        hindered: hindranceKinds.map((kind) => ({ kind, count: hindered?.get(kind) ?? 0 })),
      };
    },
  };
}
