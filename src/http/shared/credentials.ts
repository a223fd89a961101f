import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { codeOf, messageOf } from "../../text/index.ts";

/** The server's TLS certificate chain and private key, in PEM. */
export interface Credentials {
  /** The server's own certificate first, then the intermediate certificates of its authority. */
  readonly certificate: string;
  readonly key: string;
  /** The server's own certificate. */
  readonly leaf: X509Certificate;
  /** Problems that do not prevent serving but should be fixed. */
  readonly warnings: readonly string[];
}

const day = 24 * 3600_000;
/** ACME clients renew a month before expiry. A certificate with two weeks left will not be renewed automatically. */
const WARN_BEFORE_MILLISECONDS = 14 * day;

/**
 * Reads the certificate and the key and checks that TLS works with them.
 * @throws {Error} that names the unusable file and the reason
 */
export function readCredentials(certificatePath: string, keyPath: string, now: number): Credentials {
  const certificate = read(certificatePath);
  const key = read(keyPath);
  const leaf = parseCertificate(certificatePath, certificate);
  if (!leaf.checkPrivateKey(parseKey(keyPath, key))) {
    throw new Error(`the key in ${keyPath} does not belong to the first certificate in ${certificatePath}`);
  }
  try {
    createSecureContext({ cert: certificate, key });
  } catch (error) {
    throw new Error(`TLS does not accept ${certificatePath}: ${messageOf(error)}`);
  }
  return { certificate, key, leaf, warnings: [...warningsOfKey(keyPath), ...warningsOf(leaf, certificatePath, now)] };
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new Error(`can't read ${path}: ${messageOf(error)}`);
  }
}

function parseCertificate(path: string, text: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch {
    throw new Error(`${path} contains no certificate in PEM format (-----BEGIN CERTIFICATE-----)`);
  }
}

function parseKey(path: string, text: string): KeyObject {
  try {
    return createPrivateKey(text);
  } catch (error) {
    if (codeOf(error) === "ERR_MISSING_PASSPHRASE") {
      throw new Error(
        `the key in ${path} is encrypted, but the server starts without anybody who could enter its passphrase; decrypt it for the server's user only: openssl pkey -in ${path} -out NEW && chmod 600 NEW`,
      );
    }
    throw new Error(`${path} contains no private key in PEM format (-----BEGIN PRIVATE KEY-----)`);
  }
}

function warningsOfKey(path: string): string[] {
  return (statSync(path).mode & 0o007) === 0
    ? []
    : [`every user of this machine can read the key; run: chmod o= ${path}`];
}

function warningsOf(leaf: X509Certificate, path: string, now: number): string[] {
  const from = Date.parse(leaf.validFrom);
  const until = Date.parse(leaf.validTo);
  if (now < from)
    return [`the certificate in ${path} is not valid before ${leaf.validFrom}; clients refuse it until then`];
  if (now >= until) return [`the certificate in ${path} expired on ${leaf.validTo}; clients refuse it`];
  if (until - now < WARN_BEFORE_MILLISECONDS) return [`the certificate in ${path} expires soon, on ${leaf.validTo}`];
  return [];
}
