import type { Usage } from "../accounts/index.ts";
import type { Settings } from "../config/index.ts";
import type { ExportAnswers, TranscriptionCreator } from "../http/index.ts";
import type { ListeningCopies } from "../media/index.ts";
import type { RecordingQueue, Recordings } from "../recordings/index.ts";
import type { Language } from "../speech/index.ts";
import type { DataDirectory, DiskUsage, Store } from "../storage/index.ts";
import type { Logger, Metrics } from "../telemetry/index.ts";

/** How the inference workers stand: one, or one for each GPU. */
export interface WorkerStanding {
  /** The state of the one that is nearest to working. */
  readonly state: "ready" | "asleep" | "starting" | "down";
  readonly processIds: readonly number[];
  /** The GPUs that they compute on, as far as their memory is known. */
  readonly gpus: readonly {
    /** Its backend and number, e.g. `CUDA0`. */
    readonly label: string;
    readonly name: string;
    readonly freeBytes: number;
    readonly totalBytes: number;
  }[];
}

/** The parts of the server that the console shows and works with. */
export interface ConsoleServices {
  readonly store: Store;
  readonly recordings: Recordings;
  readonly dataDirectory: DataDirectory;
  readonly creator: Pick<TranscriptionCreator, "createFor">;
  readonly exports: ExportAnswers;
  readonly queue: Pick<RecordingQueue, "waiting" | "troubleOf">;
  readonly usage: Usage;
  readonly settings: () => Pick<Settings, "limits" | "queue" | "storage" | "fetch">;
  /** The speech model that new recordings get, and what it accepts. */
  readonly modelInUse: () => { readonly id: string; readonly languages: readonly Language[] };
  readonly listening: ListeningCopies;
  readonly metrics: Metrics;
  readonly disk: Pick<DiskUsage, "read">;
  readonly worker: () => WorkerStanding;
  /** What keeps the server from taking work, in plain words; null when nothing does. */
  readonly trouble: () => string | null;
  /** Whether the server is reached by https URLs. */
  readonly secure: boolean;
  readonly log: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}
