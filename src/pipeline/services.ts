import type { Usage } from "../accounts/index.ts";
import type { Recordings } from "../recordings/index.ts";
import type { DataDirectory, Store, WorkRoom } from "../storage/index.ts";
import type { Logger, Metrics } from "../telemetry/index.ts";
import type { RecordingModels } from "./bind-model.ts";
import type { DecodeOptions } from "./decode.ts";
import type { FetchOptions } from "./fetch.ts";
import type { StepEngine } from "./step.ts";

/** What the pipeline works with. */
export interface PipelineServices {
  readonly store: Store;
  readonly recordings: Recordings;
  readonly dataDirectory: DataDirectory;
  readonly engine: StepEngine;
  readonly models: RecordingModels;
  readonly fetchOptions: () => FetchOptions;
  readonly decodeOptions: () => Omit<DecodeOptions, "room" | "onProbed">;
  /** What recordings' work files may take of the disk. */
  readonly workRoom: WorkRoom;
  readonly usage: Usage;
  /** Seconds of audio that an account may have processed in a UTC day. */
  readonly audioAllowanceSeconds: (accountId: string) => number;
  /** Whether a recording's audio goes as soon as it has ended. */
  readonly dropsAudio: () => boolean;
  /** Whether recordings wait where the machine can't work (a full disk, too many open files); else they fail. */
  readonly waitsForMachine: boolean;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly now: () => number;
}
