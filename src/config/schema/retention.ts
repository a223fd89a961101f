import { duration, group } from "./kinds.ts";

export const retention = group("What is kept for how long.", {
  audio_days: duration("days", {
    default: 7,
    minimum: 0,
    maximum: 36_500,
    description: "Days that a recording itself is kept after it has ended; 0 removes it at once.",
    reload: true,
  }),
  completed_days: duration("days", {
    default: 0,
    minimum: 0,
    maximum: 36_500,
    description: "Days after which a recording that has ended is deleted with its text; 0 keeps it for ever.",
    reload: true,
  }),
  upgrade_backup_days: duration("days", {
    default: 14,
    minimum: 1,
    maximum: 36_500,
    description:
      "Days that the copies of the database which upgrades make are kept, at most three; text deleted since is still in them.",
    reload: true,
  }),
});
