import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { readCredentials } from "../../src/http/index.ts";
import { canMakeCertificates, makeCertificate, runOpenssl, type TestCertificate } from "../support/certificate.ts";

describe.skipIf(!canMakeCertificates("reading certificates"))("certificate and key", () => {
  const folder = temporaryDirectory();
  const at = (name: string) => join(folder.path, name);
  const day = 24 * 3600_000;
  let now = 0;
  let good: TestCertificate;
  let other: TestCertificate;
  beforeAll(() => {
    good = makeCertificate(folder.path, "good");
    other = makeCertificate(folder.path, "other");
    writeFileSync(at("empty"), "");
    writeFileSync(at("half"), good.certificate.slice(0, 200));
    writeFileSync(at("chain"), good.certificate + other.certificate);
    writeFileSync(at("turned"), other.certificate + good.certificate);
    writeFileSync(at("torn-chain"), good.certificate + other.certificate.slice(0, 200));
    writeFileSync(at("binary"), Buffer.from([0x30, 0x82, 0xff, 0, 0]));
    const source = ["-in", good.keyPath, "-aes256", "-passout", "pass:secret"];
    writeFileSync(at("encrypted"), runOpenssl("pkey", ...source));
    writeFileSync(at("old-encrypted"), runOpenssl("ec", ...source));
    // The certificates are valid from the second in which they were made.
    now = Date.now();
  });
  afterAll(() => folder[Symbol.dispose]());

  test("that belong together are accepted, with the intermediate certificates", () => {
    const { leaf, certificate, warnings } = readCredentials(at("chain"), good.keyPath, now);
    expect(leaf.subjectAltName).toBe("DNS:good.test");
    expect(certificate).toContain(other.certificate);
    expect(warnings).toEqual([]);
  });

  test.each([
    ["missing", "good.key", "can't read .*missing: ENOENT"],
    ["good.crt", "missing", "can't read .*missing: ENOENT"],
    ["good.crt", "other.key", "other.key does not belong to the first certificate in .*good.crt"],
    ["turned", "good.key", "does not belong to the first certificate"],
    ["good.key", "good.crt", "good.key contains no certificate in PEM format"],
    ["good.crt", "good.crt", "good.crt contains no private key in PEM format"],
    ["empty", "good.key", "empty contains no certificate"],
    ["half", "good.key", "half contains no certificate"],
    ["binary", "good.key", "binary contains no certificate"],
    ["torn-chain", "good.key", "TLS does not accept .*torn-chain"],
    ["good.crt", "empty", "empty contains no private key"],
    ["good.crt", "encrypted", "encrypted is encrypted, .* openssl pkey -in"],
    ["good.crt", "old-encrypted", "old-encrypted is encrypted"],
  ])("%s with %s is refused: %s", (certificate, key, message) => {
    expect(() => readCredentials(at(certificate), at(key), now)).toThrow(new RegExp(message));
  });

  test("a certificate that is not valid yet, expires soon or has expired is served with a warning", () => {
    const warningsAt = (at: number) => readCredentials(good.certificatePath, good.keyPath, at).warnings.join();
    expect(warningsAt(now - 2 * day)).toContain("is not valid before");
    expect(warningsAt(now + 15 * day)).toBe("");
    expect(warningsAt(now + 17 * day)).toContain("expires soon");
    expect(warningsAt(now + 31 * day)).toContain("expired on");
  });

  test("a key that every user can read is served with a warning, one that its group can read without", () => {
    chmodSync(good.keyPath, 0o640);
    expect(readCredentials(good.certificatePath, good.keyPath, now).warnings).toEqual([]);
    chmodSync(good.keyPath, 0o644);
    expect(readCredentials(good.certificatePath, good.keyPath, now).warnings.join()).toContain("chmod o= ");
  });
});
