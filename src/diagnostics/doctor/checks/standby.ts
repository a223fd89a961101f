import { constants } from "node:fs";
import { openRegister } from "../../../server/index.ts";
import { holderOf, readServing } from "../../../standby/index.ts";
import { isStandby } from "../../../storage/index.ts";
import { messageOf } from "../../../text/index.ts";
import { type Check, type CheckContext, type Finding, ok, problem, skipped, warning } from "../check.ts";
import { isAllowed } from "../machine.ts";

const fence: Check = {
  id: "standby.fence",
  title: "Fence of the standby",
  explanation:
    "With a standby: whether the fence (standby.fence) can be used, which server holds the lease, and whether the fence survives the loss of this machine.",
  async run(context): Promise<Finding> {
    const { settings, paths, data } = context;
    const place = settings.standby.fence;
    const isMarked = data === "present" && isStandby(paths);
    if (place === "") {
      if (!isMarked) return skipped("no second server can take over (standby.fence is not set)");
      return warning("nothing keeps the other server from serving after a takeover", {
        advice:
          "Set standby.fence on both machines, see docs/fleet.md. Otherwise transcribe promote needs --without-fence.",
      });
    }
    if (place !== "broker" && !isAllowed(place, constants.R_OK | constants.W_OK | constants.X_OK)) {
      return problem(`the folder ${place} can't be used`, {
        advice:
          "Create it on the shared storage, see that the storage is mounted, and let the users of both servers write there.",
      });
    }
    const known = servingOf(context);
    if (place !== "broker" && known === null) return ok(`${place} can be used`);
    return await findingOf(context, known?.fence ?? null);
  },
};

async function findingOf({ settings, paths, server }: CheckContext, folder: string | null): Promise<Finding> {
  const advice = "The server pauses while it can't renew its lease there, and transcribe promote can't take over.";
  try {
    const register = await openRegister(settings, folder);
    try {
      const { record } = await register.read();
      if (record === null) return ok("the fence can be used; no server has held the lease yet");
      const { host, epoch, state } = record;
      const summary = `${host} ${state === "held" ? "holds" : state === "waiting" ? "waits for" : "has released"} the lease, epoch ${epoch}`;
      if (server !== null && record.owner !== holderOf(paths).owner) {
        return problem(`${summary}, although a server runs here`, {
          advice: "Two servers use the same data. Stop the one that was replaced, see docs/fleet.md.",
        });
      }
      if (settings.standby.fence !== "broker" || !isHere(settings.fleet.broker)) return ok(summary);
      return warning(`${summary}; the broker runs on this machine, with which it is lost`, {
        advice:
          "Run the broker on a third machine. Otherwise transcribe promote needs --without-fence when this one is lost.",
      });
    } finally {
      await register.close();
    }
  } catch (error) {
    return problem(`the fence can't be used (${messageOf(error)})`, { advice });
  }
}

/** Returns what the database knows; null if it is not there, or of an earlier version. */
function servingOf({ database }: CheckContext) {
  if (database === null || database instanceof Error) return null;
  try {
    return readServing(database);
  } catch {
    return null;
  }
}

function isHere(url: string): boolean {
  const host = URL.canParse(url) ? new URL(url).hostname : "";
  return host === "localhost" || host === "[::1]" || host.startsWith("127.");
}

export const standbyChecks = [fence];
