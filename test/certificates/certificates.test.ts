import { expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { createAuthority, issueCertificate } from "../../src/certificates/index.ts";

const now = Date.UTC(2026, 10, 30);
const [SERVER, CLIENT] = ["1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2"] as const;
const authority = await createAuthority("test authority", now);

test.each([
  ["server", [SERVER]],
  ["client", [CLIENT]],
  ["both", [SERVER, CLIENT]],
] as const)("a certificate for the purpose %s serves no other one", async (purpose, usages) => {
  const issued = await issueCertificate(authority, { name: "a.example.org", addresses: ["10.0.0.5"], purpose }, now);
  const certificate = new X509Certificate(issued.certificate);
  expect(certificate.keyUsage).toEqual([...usages]);
  expect(certificate.subject).toBe("CN=a.example.org");
  expect(certificate.subjectAltName).toBe("DNS:a.example.org, IP Address:10.0.0.5");
  expect(certificate.verify(new X509Certificate(authority.certificate).publicKey)).toBe(true);
  expect(certificate.ca).toBe(false);
});

test("a certificate is valid for two years, and never longer than its authority", async () => {
  const late = now + 3640 * 86_400_000;
  const issue = async (at: number) => {
    const { certificate } = await issueCertificate(authority, { name: "a", addresses: [], purpose: "both" }, at);
    return Date.parse(new X509Certificate(certificate).validTo);
  };
  expect(await issue(now)).toBe(now + 730 * 86_400_000);
  expect(await issue(late)).toBe(Date.parse(new X509Certificate(authority.certificate).validTo));
});
