import { userInfo } from "node:os";
import type { Command } from "commander";
import { type Auditor, readAudit } from "../../accounts/index.ts";
import { auditorOf, type Operator } from "../../library/index.ts";
import { valueOr } from "../../text/index.ts";
import { nameOfActor } from "../../users/index.ts";
import { date, type JsonOption, printTable, readableTime } from "../output.ts";
import { positiveNumber } from "../parse-option.ts";
import { printable } from "../printable.ts";
import { openStoreOf, settingsCommand } from "../settings-options.ts";

/**
 * User that started the process. Read at startup, because root becomes another user before opening the database. A
 * container may have neither a list of users nor `HOME`, without which userInfo fails.
 */
const startedBy = valueOr(() => userInfo(), { username: "", uid: process.getuid?.() ?? -1 });

/** Returns the user of this command. A user without a name on this machine is shown by uid. */
export function operator(): Operator {
  const { username, uid } = startedBy;
  return { kind: "operator", actor: username === "" || username === "unknown" ? `uid ${uid}` : username };
}

/** Returns the user of this command and the current time. */
export function auditor(): Auditor {
  return auditorOf(operator(), Date.now());
}

/** transcribe audit */
export function auditCommand(): Command {
  return settingsCommand(
    "audit",
    "List the changes that were made by commands and in the console, live sessions, and reads of transcripts if they are recorded, with author and time, newest first.",
  )
    .option("--limit <number>", "maximum number of entries", positiveNumber, 50)
    .action((options: JsonOption & { limit: number }, command: Command) => {
      const store = openStoreOf(command);
      const toJson = ({ at, actor, action, subject, details }: ReturnType<typeof readAudit>[number]) => ({
        at: date(at),
        actor,
        name: nameOfActor(store, actor),
        action,
        subject,
        details: JSON.parse(details) as unknown,
      });
      printTable(options, readAudit(store, options.limit), toJson, "no changes yet", {
        TIME: ({ at }) => readableTime(at),
        BY: ({ actor }) => printable(nameOfActor(store, actor)),
        ACTION: ({ action }) => action,
        SUBJECT: ({ subject }) => subject,
        DETAILS: ({ details }) => details,
      });
    });
}
