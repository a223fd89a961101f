import type { Settings } from "../../config/index.ts";
import type { Store } from "../../database/index.ts";
import type { ChangeGate, DiskSpace } from "../../disk/index.ts";
import type { RecordingIntake } from "../../intake/index.ts";
import type { RecordingEvents } from "../../recordings/index.ts";
import type { Logger, Metrics } from "../../telemetry/index.ts";
import type { Usage } from "../../usage/index.ts";
import type { LiveEngine } from "../session/live-area.ts";
import type { LiveModels } from "../session/live-language.ts";
import type { LiveDirectory } from "./finish-session.ts";

/** The parts of a server that live sessions use. */
export interface LiveServices {
  readonly store: Store;
  readonly usage: Usage;
  readonly intake: Pick<RecordingIntake, "create" | "limits" | "requireOpen">;
  readonly events: RecordingEvents;
  readonly dataDirectory: LiveDirectory;
  readonly diskSpace: DiskSpace;
  readonly changes: ChangeGate;
  readonly engine: LiveEngine & {
    /** Starts workers that sleep. */
    wake(): void;
  };
  readonly models: LiveModels;
  readonly settings: () => Pick<Settings["live"], "enabled" | "sessions" | "idle_minutes">;
  readonly limits: () => Settings["limits"];
  /** Returns the number of sessions that the machine serves at the same time without delay, by a measurement. */
  readonly measuredPlaces: () => number;
  readonly metrics: Metrics["live"];
  readonly log: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly clock: () => number;
}
