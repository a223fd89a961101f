import type { Usage } from "../accounts/index.ts";
import type { RecordingEvents, Recordings } from "../recordings/index.ts";
import type { DataDirectory, Store, WorkReservations } from "../storage/index.ts";
import type { Logger, Metrics } from "../telemetry/index.ts";
import type { RecordingModels } from "./bind-model.ts";
import type { DecodeOptions } from "./decode.ts";
import type { FetchOptions } from "./fetch.ts";
import type { StepEngine } from "./step.ts";

/** The services that the pipeline uses. */
export interface PipelineServices {
  readonly store: Store;
  readonly recordings: Recordings;
  readonly events: RecordingEvents;
  readonly dataDirectory: DataDirectory;
  readonly engine: StepEngine;
  readonly models: RecordingModels;
  readonly fetchOptions: () => FetchOptions;
  readonly decodeOptions: () => Omit<DecodeOptions, "reservations" | "onProbed">;
  /** Disk space reservations for the work files of recordings. */
  readonly workReservations: WorkReservations;
  readonly usage: Usage;
  /** Returns the seconds of audio that an account may have processed in a UTC day. */
  readonly audioAllowanceSeconds: (accountId: string) => number;
  /** Whether a recording's audio is removed as soon as the recording has ended. */
  readonly dropsAudio: () => boolean;
  /** Whether recordings wait when the machine cannot work (full disk, too many open files); otherwise they fail. */
  readonly waitsForMachine: boolean;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly now: () => number;
}
