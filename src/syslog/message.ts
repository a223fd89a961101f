import { createHash } from "node:crypto";
import type { tables } from "../database/index.ts";

/** A stored entry of the audit log. */
export type AuditEntry = typeof tables.auditLog.$inferSelect;

/** The program that sends messages. */
export interface SyslogSender {
  /** Name of this machine. */
  readonly host: string;
  readonly processId: number;
  readonly version: string;
}

/** RFC 5424, section 6.2.1: facility 13, "log audit", and severity 5, "notice". */
const PRIORITY = 13 * 8 + 5;
/**
 * Name of our structured data. RFC 5424 wants the number of an enterprise after the `@`. The project has none, so it uses
 * 32473, which RFC 5612 reserves for examples.
 */
const STRUCTURED_DATA_ID = "transcribe@32473";
/** Maximum size of a message in bytes. RFC 5425, section 4.3.1: receivers should accept messages of this length. */
const MAX_MESSAGE_BYTES = 8192;
/** RFC 5424, section 6.4: a message in UTF-8 begins with a byte order mark. */
const BYTE_ORDER_MARK = "\uFEFF";

/**
 * Returns an entry as a frame of RFC 5425: the length of the message in bytes, a space, and the message of RFC 5424. The
 * message has the entry as JSON, without details that are too long for it. The same entry has the same id in each message.
 */
export function syslogFrame(entry: AuditEntry, sender: SyslogSender): Buffer {
  const { id, at, actor, action, subject } = entry;
  const header = [
    `<${PRIORITY}>1 ${new Date(at).toISOString()}`,
    headerField(sender.host, 255),
    "transcribe",
    sender.processId,
    headerField(action, 32),
  ].join(" ");
  const origin = structuredData("origin", { software: "transcribe", swVersion: sender.version });
  const own = structuredData(STRUCTURED_DATA_ID, { id: messageId(entry), entry: String(id), actor, action, subject });
  const facts = { entry: id, at: new Date(at).toISOString(), actor, action, subject };
  const message = (body: object) =>
    Buffer.from(`${header} ${origin}${own} ${BYTE_ORDER_MARK}${JSON.stringify(body)}`, "utf8");
  const whole = message({ ...facts, details: JSON.parse(entry.details) });
  const sent = whole.byteLength <= MAX_MESSAGE_BYTES ? whole : message({ ...facts, details_omitted: true });
  return Buffer.concat([Buffer.from(`${sent.byteLength} `), sent]);
}

/**
 * Returns the id by which a receiver recognizes an entry that it already has. It depends on all of the entry: after the
 * restore of a backup, other entries get the numbers of lost ones.
 */
export function messageId({ id, at, actor, action, subject, details }: AuditEntry): string {
  const content = JSON.stringify([id, at, actor, action, subject, details]);
  return createHash("sha256").update(content).digest("hex").slice(0, 32);
}

/** Returns a text as a field of the header, which has printable ASCII without spaces; `-` if nothing is left. */
function headerField(text: string, most: number): string {
  const printable = text.replace(/[^\x21-\x7e]/g, "").slice(0, most);
  return printable === "" ? "-" : printable;
}

/** RFC 5424, section 6.3.3: these characters are escaped in values. Control characters, which no value needs, are spaces. */
function structuredData(name: string, values: Readonly<Record<string, string>>): string {
  const escaped = (value: string) => value.replace(/[\p{Cc}\u2028\u2029]/gu, " ").replace(/["\\\]]/g, "\\$&");
  const parameters = Object.entries(values).map(([key, value]) => ` ${key}="${escaped(value)}"`);
  return `[${name}${parameters.join("")}]`;
}
