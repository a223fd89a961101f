import type { Store } from "../database/index.ts";
import type { WorkReservations } from "../disk/index.ts";
import type { FetchRequest } from "../media/index.ts";
import type { RecordingEvents, Recordings } from "../recordings/index.ts";
import type { AudioStore, DataDirectory } from "../storage/index.ts";
import type { Logger, Metrics } from "../telemetry/index.ts";
import type { Usage } from "../usage/index.ts";
import type { RecordingModels } from "./bind-model.ts";
import type { StepEngine } from "./step.ts";

export interface FetchOptions
  extends Pick<FetchRequest, "allow" | "maxBytes" | "maxSeconds" | "stallSeconds" | "userAgent"> {
  readonly reserveSpace: NonNullable<FetchRequest["reserveSpace"]>;
  /** Whether links are downloaded. A link that was accepted before downloads were turned off fails. */
  readonly enabled: boolean;
}

/** The transcribed audio track of a file, from 1, and the number of its audio tracks. */
export interface ChosenTrack {
  readonly audioTrack: number;
  readonly audioTracks: number;
}

export interface DecodeOptions {
  readonly ffmpegPath: string;
  readonly maxSeconds: number;
  readonly reservations: WorkReservations;
  readonly audio: AudioStore;
  /** Called with the container's length before decoding starts; an error that it throws ends the step. */
  readonly onProbed: (declaredSeconds: number | null) => void;
  /** Called with the audio track of the file that was decoded, also by an earlier attempt. */
  readonly onTrack?: (track: ChosenTrack) => void;
}

/** The services that the pipeline uses. */
export interface PipelineServices {
  readonly store: Store;
  readonly recordings: Recordings;
  readonly events: RecordingEvents;
  readonly dataDirectory: DataDirectory;
  readonly engine: StepEngine;
  readonly models: RecordingModels;
  readonly fetchOptions: () => FetchOptions;
  readonly decodeOptions: () => Omit<DecodeOptions, "reservations" | "audio" | "onProbed" | "onTrack">;
  /** Disk space reservations for the work files of recordings. */
  readonly workReservations: WorkReservations;
  readonly usage: Usage;
  /** Returns the seconds of audio that an account may have processed in a UTC day. */
  readonly audioAllowanceSeconds: (accountId: string) => number;
  /** Whether the audio of an account's recordings is removed as soon as they have ended. */
  readonly dropsAudio: (accountId: string) => boolean;
  /** Whether recordings wait when the machine cannot work (full disk, too many open files); otherwise they fail. */
  readonly waitsForMachine: boolean;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly now: () => number;
}
