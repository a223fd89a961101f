import { hostname } from "node:os";
import { programVersion } from "../program/index.ts";
import { AuditForwarder, syslogTarget } from "../syslog/index.ts";
import type { ServerData } from "./open-data.ts";
import type { ServerStandby } from "./start-standby.ts";

/** Starts to forward the audit log to the syslog receiver of the settings. */
export function startAuditForwarding({ store, running, metrics, log, now }: ServerData, changes: ServerStandby) {
  const forwarder = new AuditForwarder({
    ...{ store, changes, log, now, random: Math.random },
    isEnabled: () => running.values.audit.syslog !== "",
    // Reads the files of the settings each time, so that renewed certificates are used.
    target: () => syslogTarget(running.values.audit),
    sender: { host: hostname(), processId: process.pid, version: programVersion },
    onAttempt: (outcome) => metrics.audit.attempted(outcome),
  });
  forwarder.start();
  return {
    status: () => forwarder.status(),
    stop: () => forwarder.stop(),
    [Symbol.asyncDispose]: () => forwarder.stop(),
  };
}
