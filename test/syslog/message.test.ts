import { expect, test } from "bun:test";
import { type AuditEntry, messageId, syslogFrame } from "../../src/syslog/message.ts";
import { parseSyslog } from "../support/syslog-receiver.ts";

const sender = { host: "server.test", processId: 42, version: "1.2.3" };
const entry: AuditEntry = {
  id: 7,
  at: Date.parse("2026-11-30T01:02:03.456Z"),
  actor: "anna",
  action: "keys.create",
  subject: "key-1",
  details: '{"name":"Küche"}',
};

/** Returns the message of a frame, whose length must be right. */
function messageOf(frame: Buffer): Buffer {
  const space = frame.indexOf(" ");
  const message = frame.subarray(space + 1);
  expect(frame.subarray(0, space).toString()).toBe(String(message.byteLength));
  return message;
}

test("a message is to the letter of RFC 5424, in a frame that counts its octets", () => {
  const text = messageOf(syslogFrame(entry, sender)).toString();
  const id = messageId(entry);
  expect(text).toBe(
    `<109>1 2026-11-30T01:02:03.456Z server.test transcribe 42 keys.create [origin software="transcribe" swVersion="1.2.3"][transcribe@32473 id="${id}" entry="7" actor="anna" action="keys.create" subject="key-1"] \uFEFF{"entry":7,"at":"2026-11-30T01:02:03.456Z","actor":"anna","action":"keys.create","subject":"key-1","details":{"name":"Küche"}}`,
  );
  expect(id).toMatch(/^[0-9a-f]{32}$/);
});

test("names that would end a field or a line stay in their field", () => {
  const hostile = `a"]\\ b\n<13>1 - - - - - - x\u2028`;
  const parsed = parseSyslog(
    messageOf(
      syslogFrame({ ...entry, actor: hostile, subject: hostile, action: "a b\u00fc\n" }, { ...sender, host: "büro 1" }),
    ),
  );
  expect(parsed).toMatchObject({ priority: 109, host: "bro1", app: "transcribe", processId: "42", messageId: "ab" });
  expect(parsed.data["transcribe@32473.actor"]).toBe(`a"]\\ b <13>1 - - - - - - x `);
  expect(parsed.text).not.toContain("\n");
  expect(JSON.parse(parsed.text)).toMatchObject({ actor: hostile, subject: hostile });
});

test("details that are too long for a message are omitted, and the message says so", () => {
  const long = { ...entry, details: JSON.stringify({ name: "x".repeat(9000) }) };
  const message = messageOf(syslogFrame(long, sender));
  expect(message.byteLength).toBeLessThan(8192);
  const body: unknown = JSON.parse(parseSyslog(message).text);
  expect(body).toEqual(expect.objectContaining({ entry: 7, details_omitted: true }));
  expect(body).not.toHaveProperty("details");
});

test("an id is the same for the same entry only", () => {
  const changes = [{ id: 8 }, { at: 1 }, { actor: "b" }, { action: "b" }, { subject: "b" }, { details: "{}" }];
  const ids = [entry, ...changes.map((change) => ({ ...entry, ...change }))].map(messageId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(messageId({ ...entry })).toBe(messageId(entry));
});

test("a host without any printable name is none", () => {
  expect(parseSyslog(messageOf(syslogFrame(entry, { ...sender, host: "日本" }))).host).toBe("-");
});
