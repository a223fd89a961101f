import pino from "pino";
import { StandbyGate } from "../../harness/standby-gate.ts";
import { audit } from "../../src/accounts/index.ts";
import { tables } from "../../src/database/index.ts";
import type { DeliveryTimes } from "../../src/syslog/deliver.ts";
import { AuditForwarder, type ForwarderServices } from "../../src/syslog/forwarder.ts";
import { type SyslogSettings, syslogTarget } from "../../src/syslog/target.ts";
import { Shelf } from "../support/shelf.ts";
import type { SyslogCertificates } from "../support/syslog-receiver.ts";

/** Limits with which a test takes little time. */
const quickTimes: DeliveryTimes = { connect: 2_000, write: 2_000, quiet: 50, close: 300 };

/** Settings of a receiver on this machine. */
export function auditSettings(port: number, { authority, client }: SyslogCertificates): SyslogSettings {
  return {
    syslog: `127.0.0.1:${port}`,
    syslog_ca: authority.certificatePath,
    syslog_certificate: client.certificatePath,
    syslog_key: client.keyPath,
  };
}

/** An audit log and its forwarder, whose clock the test sets. */
export class ForwarderBench implements AsyncDisposable {
  now = Date.now();
  settings: SyslogSettings;
  readonly shelf = new Shelf(() => this.now);
  readonly store = this.shelf.store;
  readonly lines: string[] = [];
  readonly outcomes: string[] = [];
  readonly standby = new StandbyGate();
  forwarder: AuditForwarder;

  constructor(settings: SyslogSettings) {
    this.settings = settings;
    // The entry about the account of the shelf.
    this.store.delete(tables.auditLog).run();
    this.forwarder = this.#start();
  }

  #start(): AuditForwarder {
    const services: ForwarderServices = {
      store: this.store,
      changes: this.standby,
      log: pino({ base: null, level: "debug" }, { write: (line: string) => void this.lines.push(line) }),
      now: () => this.now,
      random: () => 0.5,
      isEnabled: () => this.settings.syslog !== "",
      target: () => syslogTarget(this.settings),
      sender: { host: "server.test", processId: 42, version: "1.2.3" },
      onAttempt: (outcome) => void this.outcomes.push(outcome),
      times: quickTimes,
    };
    return new AuditForwarder(services);
  }

  /** Replaces the forwarder by a new one, as a restart of the server does. */
  async restart(): Promise<void> {
    await this.forwarder.stop();
    this.forwarder = this.#start();
  }

  /** Adds entries to the audit log. */
  add(number: number, details: object = {}): void {
    for (let index = 0; index < number; index++) {
      audit(this.store, { actor: "operator", now: this.now }, "keys.create", `key-${index}`, details);
    }
  }

  /** Sends what is due. */
  async send(): Promise<void> {
    this.forwarder.look();
    await this.forwarder.idle();
  }

  /** Lets time pass, and sends what is due then. */
  async pass(milliseconds: number): Promise<void> {
    this.now += milliseconds;
    await this.send();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.forwarder.stop();
  }
}
