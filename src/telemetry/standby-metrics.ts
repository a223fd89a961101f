import type { Declarations } from "./declare.ts";

/** The standby that follows a server. */
export interface StandbySource {
  /** Returns the state of the standby; null if the settings have none. */
  standby(): {
    /** Seconds since it was last connected with a complete copy; 0 while it is. */
    readonly unfollowedSeconds: number;
    /** What it has not confirmed; null while it is not connected. */
    readonly behindBytes: number | null;
    readonly delaySeconds: number | null;
  } | null;
}

/** Registers gauges of the standby; without `standby.listen` they have no series. */
export function registerStandbyGauges(declare: Declarations, source: StandbySource): void {
  declare.gauge(
    "transcribe_standby_unfollowed_seconds",
    "Time since which no standby with a complete copy is connected; 0 while one is. Only with standby.listen",
    () => source.standby()?.unfollowedSeconds ?? null,
  );
  declare.gauge(
    "transcribe_standby_behind_bytes",
    "Changes of the database that the standby has not confirmed; only while it is connected",
    () => source.standby()?.behindBytes ?? null,
  );
  declare.gauge(
    "transcribe_standby_delay_seconds",
    "Age of the oldest change that the standby has not confirmed; only while it is connected",
    () => source.standby()?.delaySeconds ?? null,
  );
}
