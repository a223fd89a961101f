import type { Account } from "../accounts/index.ts";
import type { Settings } from "../config/index.ts";

/** How long recordings are kept after they completed or failed. */
export interface Retention {
  /** Days for which the audio is kept; 0 removes it at once. */
  readonly audioDays: number;
  /** Days after which the recording is deleted with its transcript; 0 keeps it forever. */
  readonly completedDays: number;
}

/** Maximum number of days that an account's own retention may have, as for the settings. */
export const MAX_RETENTION_DAYS = 36_500;

/** Returns the retention of the settings, for accounts without their own. */
export function serverRetention({
  audio_days: audioDays,
  completed_days: completedDays,
}: Settings["retention"]): Retention {
  return { audioDays, completedDays };
}

/** Returns the retention of an account's recordings: its own, shorter or longer, where an operator has set it. */
export function retentionOf(account: Pick<Account, keyof Retention>, server: Retention): Retention {
  return {
    audioDays: account.audioDays ?? server.audioDays,
    completedDays: account.completedDays ?? server.completedDays,
  };
}
