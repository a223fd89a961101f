import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";

const openssl = Bun.which("openssl");

/** Returns whether openssl exists, and prints a warning when it does not. */
export function canMakeCertificates(what: string): boolean {
  if (openssl === null) console.warn(`SKIPPED: ${what}; missing: the openssl command`);
  return openssl !== null;
}

/** A certificate and its key, as files and as text. */
export interface TestCertificate {
  readonly certificatePath: string;
  readonly keyPath: string;
  readonly certificate: string;
  readonly key: string;
}

/**
 * Makes a self-signed certificate, valid for 30 days, in files of a name.
 * @param host the host that it is for
 */
export function makeCertificate(folder: string, name: string, host = `${name}.test`): TestCertificate {
  const [certificatePath, keyPath] = [join(folder, `${name}.crt`), join(folder, `${name}.key`)];
  runOpenssl(
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30"],
    ...["-subj", `/CN=${host}`, "-addext", `subjectAltName=DNS:${host}`],
    ...["-keyout", keyPath, "-out", certificatePath],
  );
  return readCertificate(certificatePath, keyPath);
}

/**
 * Makes a certificate that an authority signs.
 * @param names what it is for, as in `subjectAltName`; none by default, so that no host matches it
 */
export function makeSignedCertificate(
  folder: string,
  name: string,
  authority: TestCertificate,
  names?: string,
): TestCertificate {
  const [certificatePath, keyPath] = [join(folder, `${name}.crt`), join(folder, `${name}.key`)];
  const request = join(folder, `${name}.csr`);
  runOpenssl(
    ...["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", `/CN=${name}.test`],
    ...["-keyout", keyPath, "-out", request],
    ...(names === undefined ? [] : ["-addext", `subjectAltName=${names}`]),
  );
  runOpenssl(
    ...(names === undefined ? ["x509"] : ["x509", "-copy_extensions", "copyall"]),
    ...["-req", "-in", request, "-days", "20", "-out", certificatePath],
    ...["-CA", authority.certificatePath, "-CAkey", authority.keyPath, "-CAcreateserial"],
  );
  return readCertificate(certificatePath, keyPath);
}

/** Runs openssl. @returns its output @throws {Error} when it fails */
export function runOpenssl(...args: readonly string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([openssl ?? "openssl", ...args]);
  if (exitCode !== 0) throw new Error(`openssl ${args[0]}: ${stderr.toString()}`);
  return stdout.toString();
}

function readCertificate(certificatePath: string, keyPath: string): TestCertificate {
  chmodSync(keyPath, 0o600);
  const [certificate, key] = [readFileSync(certificatePath, "utf8"), readFileSync(keyPath, "utf8")];
  return { certificatePath, keyPath, certificate, key };
}
