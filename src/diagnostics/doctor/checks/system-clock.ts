import { max } from "drizzle-orm";
import { tables } from "../../../storage/index.ts";
import { type Check, type CheckContext, ok, problem, warning } from "../check.ts";

/** Earliest plausible time: when this check was written. Without a clock battery, a machine starts decades earlier. */
const earliest = Date.parse("2026-01-01");
const tolerated = 60_000;

export const systemClock: Check = {
  id: "system.clock",
  title: "Clock",
  explanation:
    "The date goes into every record, quotas count by the day, and links and certificates have a time. So the clock must be plausible, not before the newest record, and best be set by a time server.",
  async run(context) {
    const { machine } = context;
    const now = machine.now();
    const advice =
      "Set the clock: timedatectl set-ntp true, or by hand where there is no network: timedatectl set-time.";
    if (now < earliest) return problem(`it is ${new Date(now).toISOString()} here, which can't be`, { advice });
    const newest = newestRecord(context);
    if (newest !== null && newest > now + tolerated) {
      return problem(`the clock stands before the newest recording, of ${new Date(newest).toISOString()}`, { advice });
    }
    const answer = await machine.run(["timedatectl", "show", "--property=NTPSynchronized", "--value"]);
    const synchronized = answer?.exitCode === 0 ? answer.output.trim() : "";
    if (synchronized === "yes") return ok("set by a time server");
    if (synchronized === "no") return warning("plausible, but no time server sets it, so it will drift", { advice });
    return ok("plausible; whether a time server sets it is not known here");
  },
};

/**
 * Returns the creation time of the newest recording, in milliseconds since the epoch; null if there is none or it
 * cannot be read.
 */
function newestRecord({ database }: CheckContext): number | null {
  if (database === null || database instanceof Error) return null;
  const { recordings } = tables;
  try {
    return (
      database
        .select({ newest: max(recordings.createdAt) })
        .from(recordings)
        .get()?.newest ?? null
    );
  } catch {
    return null;
  }
}
