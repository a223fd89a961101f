import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { loadSettings } from "../../src/config/index.ts";
import { settingFaults } from "../../src/server/running-settings.ts";
import { type SyslogSettings, syslogTarget } from "../../src/syslog/target.ts";
import { canMakeCertificates } from "../support/certificate.ts";
import { makeSyslogCertificates, type SyslogCertificates } from "../support/syslog-receiver.ts";
import { auditSettings } from "./support.ts";

describe.skipIf(!canMakeCertificates("reading certificates"))("the receiver of the settings", () => {
  const folder = temporaryDirectory();
  let certificates: SyslogCertificates;
  let good: SyslogSettings;
  beforeAll(() => {
    certificates = makeSyslogCertificates(folder.path);
    good = auditSettings(6514, certificates);
    writeFileSync(join(folder.path, "text.pem"), "hello");
    writeFileSync(join(folder.path, "damaged.pem"), "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    writeFileSync(join(folder.path, "two.pem"), certificates.client.certificate + certificates.authority.certificate);
  });
  afterAll(() => folder[Symbol.dispose]());

  const faultsOf = (changes: Partial<SyslogSettings>) => {
    const settings = loadSettings({ file: undefined, environment: {}, flags: {} });
    const faults = settingFaults({ ...settings, audit: { ...settings.audit, ...good, ...changes } });
    return faults.map(({ setting, message }) => `${setting}: ${message.replaceAll(`${folder.path}/`, "")}`);
  };

  test("has its files, and a certificate of the server only if there is one", () => {
    const { authority, client } = certificates;
    expect(syslogTarget(good)).toEqual({
      host: "127.0.0.1",
      port: 6514,
      authorities: authority.certificate.trim(),
      own: { certificate: client.certificate.trim(), key: client.key },
    });
    const plain = { syslog: "[fd00::5]:6514", syslog_ca: "", syslog_certificate: "", syslog_key: "" };
    expect(syslogTarget(plain)).toEqual({ host: "fd00::5", port: 6514, authorities: null, own: null });
  });

  test("may have a chain of certificates", () => {
    expect(faultsOf({ syslog_certificate: join(folder.path, "two.pem") })).toEqual([]);
  });

  test("is not looked at when the audit log is not forwarded", () => {
    expect(faultsOf({ syslog: "", syslog_ca: "/nowhere", syslog_key: "" })).toEqual([]);
  });

  const cases: [string, () => Partial<SyslogSettings>, string][] = [
    ["a port of 0", () => ({ syslog: "logs.example.org:0" }), "audit.syslog: the port must be between 1 and 65535"],
    ["a port that there is not", () => ({ syslog: "a:65536" }), "audit.syslog: a:65536 is not an address with a port"],
    ["a missing authority", () => ({ syslog_ca: "/nowhere" }), "audit.syslog_ca: can't read /nowhere"],
    [
      "no certificate",
      () => ({ syslog_ca: join(folder.path, "text.pem") }),
      "audit.syslog_ca: text.pem contains no certificate",
    ],
    [
      "a damaged certificate",
      () => ({ syslog_ca: join(folder.path, "damaged.pem") }),
      "audit.syslog_ca: damaged.pem contains an unusable certificate",
    ],
    ["a certificate without a key", () => ({ syslog_key: "" }), "audit.syslog_key: set both"],
    ["a key without a certificate", () => ({ syslog_certificate: "" }), "audit.syslog_certificate: set both"],
    [
      "a text as a key",
      () => ({ syslog_key: join(folder.path, "text.pem") }),
      "audit.syslog_key: text.pem contains no usable private key",
    ],
    [
      "the key of another",
      () => ({ syslog_key: certificates.authority.keyPath }),
      "audit.syslog_key: the key in authority.key does not belong",
    ],
  ];
  test.each(cases)("is refused with %s, by the name of its setting", (_, changes, expected) => {
    const [first = "", ...others] = faultsOf(changes());
    expect([first, others]).toEqual([expect.stringContaining(expected), []]);
    expect(first).not.toContain("PRIVATE KEY");
  });
});
