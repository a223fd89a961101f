import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { readPosition } from "../../src/syslog/position.ts";
import { canMakeCertificates, makeCertificate } from "../support/certificate.ts";
import { makeSyslogCertificates, type SyslogCertificates, SyslogReceiver } from "../support/syslog-receiver.ts";
import { auditSettings, ForwarderBench } from "./support.ts";

const HOUR = 3_600_000;
const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

describe.skipIf(!canMakeCertificates("syslog over TLS"))("the audit log", () => {
  const folder = temporaryDirectory();
  let certificates: SyslogCertificates;
  beforeAll(() => {
    certificates = makeSyslogCertificates(folder.path);
  });
  afterAll(() => folder[Symbol.dispose]());

  /** Options of a receiver that demands a certificate of the authority. */
  const strict = () => ({
    cert: certificates.receiver.certificate,
    key: certificates.receiver.key,
    ca: certificates.authority.certificate,
    requestCert: true,
    rejectUnauthorized: true,
  });
  const benchFor = (port: number) => new ForwarderBench(auditSettings(port, certificates));

  test("reaches a receiver in order and once, the oldest entries first, and later ones when they are made", async () => {
    await using receiver = await SyslogReceiver.start(strict());
    await using bench = benchFor(receiver.port);
    bench.add(3);
    await bench.send();
    expect([receiver.entries(), bench.outcomes]).toEqual([[1, 2, 3], ["confirmed"]]);
    bench.add(1);
    await bench.send();
    expect(receiver.entries()).toEqual([1, 2, 3]);
    await bench.pass(5_000);
    expect(receiver.entries()).toEqual([1, 2, 3, 4]);
    await bench.pass(HOUR);
    expect([receiver.connections, receiver.faults]).toEqual([2, []]);
    expect(bench.forwarder.status()).toEqual({ count: 0, since: null });
  });

  test("waits for the standby, which then has all entries that the receiver has", async () => {
    await using receiver = await SyslogReceiver.start(strict());
    await using bench = benchFor(receiver.port);
    bench.standby.isThere = false;
    bench.add(2);
    await bench.send();
    expect([receiver.connections, bench.outcomes]).toEqual([0, []]);
    bench.standby.isThere = true;
    bench.standby.onConfirm = () => expect(receiver.connections).toBe(0);
    await bench.send();
    expect([receiver.entries(), bench.outcomes]).toEqual([[1, 2], ["confirmed"]]);
  });

  test("of more entries than one connection sends arrives without pauses", async () => {
    await using receiver = await SyslogReceiver.start(strict());
    await using bench = benchFor(receiver.port);
    bench.add(2_345, { note: "x".repeat(300) });
    await bench.send();
    expect(receiver.entries()).toEqual(upTo(2_345));
    expect(receiver.connections).toBe(3);
  });

  test("waits while the receiver is down for an hour, also over a restart, and then arrives completely", async () => {
    const first = await SyslogReceiver.start(strict());
    const { port } = first;
    await using bench = benchFor(port);
    bench.add(1);
    await bench.send();
    await first[Symbol.asyncDispose]();
    for (let minute = 0; minute < 60; minute++) {
      bench.add(2);
      await bench.pass(60_000);
      if (minute === 30) await bench.restart();
    }
    expect(bench.forwarder.status()).toEqual({ count: 120, since: expect.any(Number) });
    expect(bench.outcomes.filter((outcome) => outcome === "failed")).toHaveLength(60);
    expect(bench.lines.filter((line) => line.includes("audit.forwarding_failed"))).toHaveLength(2);
    await using second = await SyslogReceiver.start(strict(), port);
    await bench.pass(70_000);
    expect(second.entries()).toEqual(upTo(121).slice(1));
    expect(bench.lines.at(-1)).toContain("audit.forwarding_resumed");
  });

  for (const [what, cut] of [
    ["resets the connection after some of the messages", "message"],
    ["closes the connection before it has read anything", "connection"],
  ] as const) {
    test(`is sent again when the receiver ${what}`, async () => {
      await using receiver = await SyslogReceiver.start(strict());
      await using bench = benchFor(receiver.port);
      if (cut === "connection") receiver.onConnection = (socket) => void socket.destroy();
      else receiver.onMessage = (socket) => receiver.messages.length >= 5 && socket.destroy();
      bench.add(500, { note: "x".repeat(3_000) });
      await bench.send();
      expect([bench.outcomes, readPosition(bench.store)]).toEqual([["failed"], 0]);
      const before = receiver.messages.length;
      receiver.onConnection = () => {};
      receiver.onMessage = () => {};
      await bench.pass(1_200);
      expect(receiver.entries().slice(before)).toEqual(upTo(500));
      const ids = receiver.messages.map(({ data }) => data["transcribe@32473.id"]);
      expect(new Set(ids).size).toBe(500);
    });
  }

  test("is sent three times to a receiver that never closes a connection, and then counts as received", async () => {
    await using receiver = await SyslogReceiver.start({ ...strict(), allowHalfOpen: true });
    await using bench = benchFor(receiver.port);
    bench.add(2);
    await bench.send();
    bench.add(1);
    await bench.pass(2_000);
    expect(readPosition(bench.store)).toBe(0);
    await bench.pass(3_000);
    // The later entry waits, so that the number of repeated messages is limited.
    expect([receiver.entries(), readPosition(bench.store)]).toEqual([[1, 2, 1, 2, 1, 2], 2]);
    await bench.pass(5_000);
    expect(receiver.entries().slice(6)).toEqual([3]);
  });

  test("does not reach a receiver with a certificate of another authority", async () => {
    const other = makeCertificate(folder.path, "other", "127.0.0.1");
    await using receiver = await SyslogReceiver.start({ cert: other.certificate, key: other.key });
    await using bench = benchFor(receiver.port);
    bench.add(1);
    await bench.send();
    expect([bench.outcomes, receiver.messages]).toEqual([["failed"], []]);
    expect(bench.lines.join("")).toMatch(/self.signed|unable to verify/i);
  });

  test("does not reach a receiver whose certificate is for another host", async () => {
    const { client } = certificates;
    await using receiver = await SyslogReceiver.start({ cert: client.certificate, key: client.key });
    await using bench = benchFor(receiver.port);
    bench.add(1);
    await bench.send();
    expect([bench.outcomes, receiver.messages]).toEqual([["failed"], []]);
  });

  test("waits when the receiver refuses the server's certificate or wants one", async () => {
    await using receiver = await SyslogReceiver.start(strict());
    await using bench = benchFor(receiver.port);
    bench.settings = { ...bench.settings, syslog_certificate: "", syslog_key: "" };
    bench.add(1);
    await bench.send();
    expect([bench.outcomes, readPosition(bench.store)]).toEqual([["failed"], 0]);
    bench.settings = auditSettings(receiver.port, certificates);
    await bench.pass(2_000);
    expect(receiver.entries()).toEqual([1]);
  });

  test("waits when nothing answers in the TLS handshake", async () => {
    await using silent = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    await using bench = benchFor(silent.port);
    bench.add(1);
    await bench.send();
    expect(bench.lines.join("")).toContain("no TLS connection within 2 s");
  });

  test("is not sent while the setting is empty, and nothing is in the log of the server but the trouble", async () => {
    await using receiver = await SyslogReceiver.start(strict());
    await using bench = benchFor(receiver.port);
    bench.settings = { ...bench.settings, syslog: "" };
    bench.add(1, { secret: "none" });
    await bench.pass(HOUR);
    expect([receiver.connections, bench.forwarder.status(), bench.lines]).toEqual([0, null, []]);
  });
});
