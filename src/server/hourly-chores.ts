import { removeWorkOfEnded } from "../pipeline/index.ts";
import { applyRetention, type Recordings } from "../recordings/index.ts";
import { type DataDirectory, pruneUpgradeBackups } from "../storage/index.ts";
import type { RunningSettings } from "./running-settings.ts";

export interface KeptParts {
  readonly recordings: Recordings;
  readonly dataDirectory: DataDirectory;
  readonly running: RunningSettings;
  readonly now: () => number;
}

/** Returns the hourly tasks that remove data whose retention period is over, by their names in the log. */
export function hourlyChores({
  recordings,
  dataDirectory,
  running,
  now,
}: KeptParts): Readonly<Record<string, () => Promise<void> | void>> {
  return {
    retention() {
      const { audio_days: audioDays, completed_days: completedDays } = running.values.retention;
      return applyRetention(recordings, dataDirectory, { audioDays, completedDays }, now());
    },
    "upgrade backups"() {
      const { upgrade_backup_days: keptDays } = running.values.retention;
      pruneUpgradeBackups(dataDirectory.databasePath, now(), keptDays);
    },
    async "rows of ended recordings"() {
      await recordings.rows.removeAllDeleted();
      await removeWorkOfEnded(recordings);
    },
  };
}
