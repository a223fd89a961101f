import type { Command } from "commander";
import type { Settings } from "../config/index.ts";
import { thisMachine } from "../install/index.ts";
import { leaseClock, openRegister } from "../server/index.ts";
import { type Promotion, promote, StillServesError } from "../standby/index.ts";
import { DataDirectory } from "../storage/index.ts";
import { createLogger } from "../telemetry/index.ts";
import { CommandError } from "./command-error.ts";
import { type JsonOption, optionalDate, print } from "./output.ts";
import { dataSettingsOf, settingsCommand } from "./settings-options.ts";
import { StatusLine } from "./status-line.ts";

interface PromoteOptions extends JsonOption {
  readonly force?: true;
  readonly withoutFence?: true;
}

const help = `
It takes at most 30 s and can be repeated after an interruption. Afterwards start the server, unless standby.follow is set, and
give it the address of the former one.
See docs/fleet.md, High availability of the coordinator.`;

/** transcribe promote */
export function promoteCommand(): Command {
  return settingsCommand(
    "promote",
    "Let the standby in the data directory take over: keep the other server from serving, and prepare the data for transcribe serve.",
  )
    .option(
      "--force",
      "take over from a server that still serves, or in the data directory of a server that was replaced",
    )
    .option("--without-fence", "take over without standby.fence: confirms that the other server is off and stays off")
    .addHelpText("after", help)
    .action(async (options: PromoteOptions, command: Command) => {
      const settings = dataSettingsOf(command);
      const directory = new DataDirectory(settings.storage.data_dir);
      using line = new StatusLine();
      line.show("watching the lease of the other server");
      const promotion = await promote({
        directory,
        openRegister: registerOpener(settings, options),
        leaseMilliseconds: settings.standby.lease_seconds * 1000,
        force: options.force === true,
        onStep: (step) => line.show(stepTexts[step]),
        clock: leaseClock,
        log: createLogger("silent"),
      }).catch((error: unknown) => {
        if (!(error instanceof StillServesError)) throw error;
        throw new CommandError(
          `${error.message}; stop it first, or take over nevertheless: transcribe promote --force`,
        );
      });
      const epoch = promotion?.epoch ?? null;
      const { from = null, appliedAt = null, isChecked = false } = promotion ?? {};
      const json = {
        promoted: promotion !== null,
        epoch,
        from,
        applied_at: optionalDate(appliedAt),
        checked: isChecked,
      };
      line[Symbol.dispose]();
      const { listen, wait, follow } = settings.standby;
      print(options, json, () => textOf(directory, promotion, { waits: listen !== "" && wait, follows: follow }));
    });
}

/** Texts for what follows each step. */
const stepTexts = {
  watched: "taking the lease",
  fenced: "ending transcribe standby",
  ended: "checking the database",
  checked: "storing the epoch",
  stored: "activating the data directory",
  activated: "",
} as const;

/** @returns a function that opens the fence; null without one @throws {CommandError} if the administrator has to confirm that */
function registerOpener(settings: Settings, { withoutFence }: PromoteOptions) {
  if (withoutFence === true) return null;
  if (settings.standby.fence !== "") return () => openRegister(settings, null);
  throw new CommandError(
    "standby.fence is not set, so nothing keeps the other server from serving; switch it off for good, and repeat with --without-fence",
  );
}

interface PromotedServer {
  /** Whether it refuses changes without a standby. */
  readonly waits: boolean;
  /** Whether the standby was a server with standby.follow, which is started again. */
  readonly follows: boolean;
}

function textOf(directory: DataDirectory, promotion: Promotion | null, { waits, follows }: PromotedServer): string {
  const next = thisMachine.hasSystemd ? "systemctl enable --now transcribe" : "transcribe serve";
  if (promotion === null) {
    return `${directory.root} is the data directory of a server already; start it, if it does not run: ${next}`;
  }
  const { epoch, appliedAt, isChecked } = promotion;
  return [
    `${directory.root} has taken over (epoch ${epoch}).`,
    ...(appliedAt === null
      ? []
      : [
          `It has what the other server had at ${new Date(appliedAt).toISOString()}, and perhaps the seconds after that.`,
        ]),
    ...(isChecked
      ? []
      : [
          "The database is too large to be checked for damage in this time. The server checks it after its start, and logs the result (standby.database_checked).",
        ]),
    ...(waits
      ? ["The server refuses changes until a standby follows it; to accept them before, set standby.wait = false."]
      : []),
    follows
      ? `Next: the service or container serves by itself, if it ran (otherwise: ${next}); give this machine the address of the other one.`
      : `Next: ${next}, and give this machine the address of the other one.`,
  ].join("\n");
}
