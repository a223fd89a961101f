import { Command } from "commander";
import { readAudit } from "../../accounts/index.ts";
import { date, print, table } from "../output.ts";
import { addSettingsOptions, openStoreOf } from "../settings-options.ts";
import { howMany } from "../whole-number.ts";

/** transcribe audit */
export function auditCommand(): Command {
  return addSettingsOptions(new Command("audit"), ["storage.data_dir"])
    .description("What was changed by command, by whom and when, newest first.")
    .option("--limit <number>", "so many", howMany, 50)
    .option("--json", "print it as JSON")
    .action((options: { limit: number; json?: boolean }, command: Command) => {
      const entries = readAudit(openStoreOf(command), options.limit);
      const shown = entries.map(({ at, actor, action, subject, details }) => ({
        at: date(at),
        actor,
        action,
        subject,
        details: JSON.parse(details) as unknown,
      }));
      print(options.json === true, shown, () =>
        table(
          ["AT", "BY", "WHAT", "OF", "DETAILS"],
          entries.map((entry) => [date(entry.at), entry.actor, entry.action, entry.subject, entry.details]),
        ),
      );
    });
}
