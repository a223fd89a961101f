import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { audit } from "../../../src/accounts/index.ts";
import { tables } from "../../../src/database/index.ts";
import { canMakeCertificates } from "../../support/certificate.ts";
import { Shelf } from "../../support/shelf.ts";
import { makeSyslogCertificates, type SyslogCertificates, SyslogReceiver } from "../../support/syslog-receiver.ts";
import { contextOf, runCheck } from "./support.ts";

describe.skipIf(!canMakeCertificates("syslog over TLS"))("the check of the audit log's receiver", () => {
  const folder = temporaryDirectory();
  let certificates: SyslogCertificates;
  beforeAll(() => {
    certificates = makeSyslogCertificates(folder.path);
  });
  afterAll(() => folder[Symbol.dispose]());

  const start = () => SyslogReceiver.start({ cert: certificates.receiver.certificate, key: certificates.receiver.key });
  const now = "2026-11-30T12:00:00Z";
  /** @param minutes age of the only entry; null for none */
  const check = (port: number, minutes: number | null, flags: Record<string, string> = {}) => {
    const { store } = new Shelf();
    store.delete(tables.auditLog).run();
    const at = Date.parse(now) - (minutes ?? 0) * 60_000;
    if (minutes !== null) audit(store, { actor: "anna", now: at }, "keys.create", "key-1", {});
    const paths = { "audit.syslog_ca": certificates.authority.certificatePath, ...flags };
    return runCheck(
      "audit.syslog",
      contextOf({ now }, { database: store, flags: { "audit.syslog": `127.0.0.1:${port}`, ...paths } }),
    );
  };

  test("is skipped without a receiver", async () => {
    expect((await runCheck("audit.syslog", contextOf({}))).status).toBe("skipped");
  });

  test("finds a receiver that answers, and sends it nothing", async () => {
    await using receiver = await start();
    expect(await check(receiver.port, 2)).toMatchObject({
      status: "ok",
      summary: `127.0.0.1:${receiver.port} answers`,
      detail: ["1 entry waiting, the oldest for 2 minutes"],
    });
    expect([receiver.connections, receiver.messages, receiver.faults]).toEqual([1, [], []]);
  });

  test("warns of entries that wait although the receiver answers", async () => {
    await using receiver = await start();
    expect(await check(receiver.port, 60)).toMatchObject({
      status: "warning",
      summary: expect.stringContaining("1 entry waiting, the oldest for 60 minutes"),
    });
  });

  test("reports a receiver that does not answer, or whose certificate is of another authority", async () => {
    const gone = await start();
    const { port } = gone;
    await gone[Symbol.asyncDispose]();
    expect(await check(port, null)).toMatchObject({ status: "problem", detail: [expect.any(String)] });
    await using receiver = await start();
    const foreign = { "audit.syslog_ca": certificates.client.certificatePath };
    expect(await check(receiver.port, null, foreign)).toMatchObject({ status: "problem" });
  });

  test("names the setting's file that is missing", async () => {
    const found = await check(6514, null, { "audit.syslog_ca": "/nowhere/ca.pem" });
    expect([found.status, found.detail]).toEqual(["problem", [expect.stringContaining("can't read /nowhere/ca.pem")]]);
  });
});
