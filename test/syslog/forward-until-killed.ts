import pino from "pino";
import { StandbyGate } from "../../harness/standby-gate.ts";
import { audit } from "../../src/accounts/index.ts";
import { openDatabase, tables } from "../../src/database/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import { AuditForwarder, pendingAuditEntries, syslogTarget } from "../../src/syslog/index.ts";

/** A receiver of the audit log, with the authority of its certificate. */
export interface KillTarget {
  readonly port: number;
  readonly ca: string;
}

/** Returns the command that adds entries to an audit log and forwards them, until a number is confirmed. */
export function auditSender(script: string, directory: string, entries: number, { port, ca }: KillTarget): string[] {
  return [process.execPath, script, directory, String(entries), String(port), ca];
}

/** Adds entries and forwards them. Its clock runs a hundred times as fast, so that waits are short. */
async function addAndForward(directory: string, entries: number, port: string, ca: string): Promise<void> {
  const store = openDatabase(new DataDirectory(directory).databasePath);
  const origin = Date.now();
  const now = () => origin + (Date.now() - origin) * 100;
  const settings = { syslog: `127.0.0.1:${port}`, syslog_ca: ca, syslog_certificate: "", syslog_key: "" };
  const forwarder = new AuditForwarder({
    ...{ store, now, log: pino({ level: "silent" }), random: Math.random, onAttempt: () => {} },
    changes: new StandbyGate(),
    isEnabled: () => true,
    target: () => syslogTarget(settings),
    sender: { host: "server.test", processId: process.pid, version: "test" },
    times: { connect: 2_000, write: 2_000, quiet: 20, close: 1_000 },
  });
  let added = store.select({ id: tables.auditLog.id }).from(tables.auditLog).all().length;
  while (added < entries || pendingAuditEntries(store).count > 0) {
    if (added < entries) {
      added += 1;
      audit(store, { actor: "operator", now: Date.now() }, "keys.create", `key-${added}`, { name: `key ${added}` });
      process.stdout.write(`${added}\n`);
    }
    forwarder.look();
    await Bun.sleep(1);
  }
  await forwarder.stop();
}

if (import.meta.main) {
  const [directory = "", entries, port = "", ca = ""] = process.argv.slice(2);
  await addAndForward(directory, Number(entries), port, ca);
}
