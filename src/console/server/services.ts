import type { Settings } from "../../config/index.ts";
import type { Store } from "../../database/index.ts";
import type { Machine } from "../../fleet/index.ts";
import type { ExportAnswers, TranscriptionCreator } from "../../http/index.ts";
import type { Library } from "../../library/index.ts";
import type { LiveSessions } from "../../live/index.ts";
import type { PlaybackCopies } from "../../media/index.ts";
import type { RecordingQueue } from "../../queue/index.ts";
import type { RecordingEvents, Recordings } from "../../recordings/index.ts";
import type { SearchIndexer } from "../../search/index.ts";
import type { Language } from "../../speech/index.ts";
import type { DiskUsage } from "../../storage/index.ts";
import type { Logger, Metrics } from "../../telemetry/index.ts";
import type { Usage } from "../../usage/index.ts";
import type { PostOptions } from "../../webhooks/index.ts";

/** Status of the inference workers. There is one worker, or one for each GPU. */
export interface WorkerStatus {
  /** State of the worker that is closest to `ready`. */
  readonly state: "ready" | "asleep" | "starting" | "down";
  readonly processIds: readonly number[];
  /** Number of operations of the speech model that run at the same time, and that wait for it. */
  readonly lanes: number;
  readonly waiting: number;
  /** The decoder that operations of a GPU share; null: each decodes alone. */
  readonly decoder: {
    readonly slots: number;
    /** Rows of texts in each of its latest steps; null: it made none. */
    readonly rowsPerStep: number | null;
  } | null;
  /** The GPUs that the workers use and whose memory is known. */
  readonly gpus: readonly {
    /** Backend and number, e.g. `CUDA0`. */
    readonly label: string;
    readonly name: string;
    readonly freeBytes: number;
    readonly totalBytes: number;
  }[];
}

/** A worker of the server's fleet. */
export type FleetMachine = Pick<Machine, "machine" | "version" | "lanes" | "busy" | "problem">;

/** The parts of the server that the console uses. */
export interface ConsoleServices {
  readonly store: Store;
  readonly recordings: Recordings;
  readonly library: Library;
  readonly events: Pick<RecordingEvents, "onEnded">;
  readonly creator: Pick<TranscriptionCreator, "createFor">;
  readonly exports: ExportAnswers;
  readonly searchIndexer: Pick<SearchIndexer, "add" | "isBusy">;
  readonly queue: Pick<RecordingQueue, "waiting" | "troubleOf">;
  readonly usage: Usage;
  readonly settings: () => Pick<
    Settings,
    "limits" | "queue" | "storage" | "fetch" | "live" | "console" | "oidc" | "retention"
  >;
  /** The speech model for new recordings, and the languages that it accepts. */
  readonly modelInUse: () => { readonly id: string; readonly languages: readonly Language[] };
  /** The installed speech models. */
  readonly models: {
    installed(): readonly { readonly id: string }[];
    find(id: string): { readonly id: string; readonly languages: readonly Language[] } | null;
    /** Returns why a model cannot translate, with the models that can; null if it can. */
    translationRefusal(id: string): string | null;
  };
  readonly playback: PlaybackCopies;
  readonly live: LiveSessions;
  readonly metrics: Metrics;
  readonly disk: Pick<DiskUsage, "read">;
  readonly worker: () => WorkerStatus;
  /** The workers of the server's fleet; null if the server works alone. */
  readonly machines: () => readonly FleetMachine[] | null;
  /** Returns why no machine of the fleet processes recordings; null if one does, or the server works alone. */
  readonly fleetProblem: () => string | null;
  /** The problem that keeps the server from processing recordings, in plain words; null if there is none. */
  readonly problem: () => string | null;
  /** How tests of webhooks are sent. */
  readonly postOptions: () => PostOptions;
  /** Whether the server's public URLs use https. */
  readonly secure: boolean;
  readonly log: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}
