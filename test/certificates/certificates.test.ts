import { beforeAll, describe, expect, test } from "bun:test";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { type Credentials, createAuthority, issueCertificate } from "../../src/certificates/index.ts";

const SERVER_AUTH = "1.3.6.1.5.5.7.3.1";
const CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";
const DAY = 24 * 60 * 60 * 1000;
const now = Date.UTC(2030, 0, 1);

let authority: Credentials;
let parsed: X509Certificate;

beforeAll(async () => {
  authority = await createAuthority("transcribe test", now);
  parsed = new X509Certificate(authority.certificate);
});

async function issue(purpose: "server" | "client" | "both", addresses: readonly string[] = [], at = now) {
  const credentials = await issueCertificate(authority, { name: "one", addresses, purpose }, at);
  return { ...credentials, parsed: new X509Certificate(credentials.certificate) };
}

describe("a certificate of an authority", () => {
  test("is signed by it and by no other of the same name, and belongs to its key", async () => {
    const { parsed: certificate, key } = await issue("both");
    expect(certificate.checkIssued(parsed)).toBe(true);
    expect(certificate.verify(parsed.publicKey)).toBe(true);
    expect(certificate.checkPrivateKey(createPrivateKey(key))).toBe(true);
    const other = new X509Certificate((await createAuthority("transcribe test", now)).certificate);
    expect(certificate.verify(other.publicKey)).toBe(false);
  });

  test("can issue no other certificates", async () => {
    expect(parsed.ca).toBe(true);
    expect((await issue("both")).parsed.ca).toBe(false);
  });

  test.each([
    ["server", [SERVER_AUTH]],
    ["client", [CLIENT_AUTH]],
    ["both", [SERVER_AUTH, CLIENT_AUTH]],
  ] as const)("for the purpose %s is for nothing else", async (purpose, usages) => {
    const { keyUsage } = (await issue(purpose)).parsed;
    expect(keyUsage).toEqual([...usages]);
  });

  test("has the machine's name and its addresses, each once", async () => {
    const { parsed: certificate } = await issue("server", ["10.0.0.5", "::1", "one", "two.example.org"]);
    expect(certificate.subject).toBe("CN=one");
    expect(certificate.checkHost("two.example.org")).toBe("two.example.org");
    expect(certificate.checkHost("three.example.org")).toBeUndefined();
    expect(certificate.checkIP("10.0.0.5")).toBe("10.0.0.5");
    expect(certificate.checkIP("::1")).toBe("::1");
    expect(certificate.subjectAltName?.split(", ")).toHaveLength(4);
  });

  test("is valid for a machine whose clock is an hour slow, and never longer than its authority", async () => {
    const { parsed: first } = await issue("both");
    expect(Date.parse(first.validFrom)).toBeLessThanOrEqual(now - 60 * 60 * 1000);
    expect(Date.parse(first.validTo)).toBeLessThan(Date.parse(parsed.validTo));
    const { parsed: late } = await issue("both", [], now + 3600 * DAY);
    expect(late.validTo).toBe(parsed.validTo);
  });
});
