import { deliver, pendingAuditEntries, syslogTarget } from "../../../syslog/index.ts";
import { count, messageOf } from "../../../text/index.ts";
import { type Check, type CheckContext, type Finding, ok, problem, skipped, warning } from "../check.ts";

/** Age of an entry that no server on this machine should leave unsent while the receiver answers. */
const LATE_MINUTES = 15;

const syslog: Check = {
  id: "audit.syslog",
  title: "Audit log by syslog",
  explanation:
    "With `audit.syslog`: whether the receiver answers by TLS with a certificate of its authority, accepts this server's certificate and closes the connection properly, and whether entries of the audit log wait for longer than 15 minutes. Nothing is sent.",
  async run({ settings: { audit }, database, machine, signal }): Promise<Finding> {
    if (audit.syslog === "") return skipped("the audit log is not forwarded (audit.syslog is not set)");
    const since = database === null || database instanceof Error ? null : waiting(database, machine.now());
    try {
      await deliver(syslogTarget(audit), [], signal);
    } catch (error) {
      signal.throwIfAborted();
      return problem(`the audit log can't be delivered to ${audit.syslog}`, {
        detail: [messageOf(error), ...(since === null ? [] : [since.text])],
        advice:
          "Nothing is lost: the entries wait in the database. Compare the address, the authority (audit.syslog_ca) and the certificate (audit.syslog_certificate) with the receiver's, see docs/audit.md.",
      });
    }
    if (since === null || !since.isLate) return ok(`${audit.syslog} answers`, ...(since === null ? [] : [since.text]));
    return warning(`${audit.syslog} answers, but ${since.text}`, {
      advice: "Start the server, which forwards them. Otherwise its log has the reason: audit.forwarding_failed.",
    });
  },
};

/** Returns how many entries wait; null if none does, or if the database is of another version. */
function waiting(database: Exclude<CheckContext["database"], Error | null>, now: number) {
  try {
    const pending = pendingAuditEntries(database);
    if (pending.since === null) return null;
    const minutes = Math.max(0, Math.round((now - pending.since) / 60_000));
    const entries = pending.count === 1 ? "1 entry" : `${pending.count} entries`;
    return { isLate: minutes >= LATE_MINUTES, text: `${entries} waiting, the oldest for ${count(minutes, "minute")}` };
  } catch {
    return null;
  }
}

export const auditChecks = [syslog];
