import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { type AddressWithPort, parseAddressWithPort } from "../addresses/index.ts";
import type { Settings } from "../config/index.ts";
import { ExpectedError, messageOf } from "../text/index.ts";

/** A receiver of syslog messages over TLS. */
export interface SyslogTarget extends AddressWithPort {
  /** Certificates in PEM that may have issued the receiver's certificate; null for the public authorities. */
  readonly authorities: string | null;
  /** The certificate by which this server identifies itself, with its key, in PEM; null for none. */
  readonly own: { readonly certificate: string; readonly key: string } | null;
}

/** The settings that name the receiver and its files. */
export type SyslogSettings = Omit<Settings["audit"], "reads" | "retention_days" | "retention_days">;

/** A setting of the receiver, or one of its files, is unusable. */
export class SyslogTargetError extends ExpectedError {
  override readonly name = "SyslogTargetError";
  readonly setting: keyof SyslogSettings;

  constructor(setting: keyof SyslogSettings, message: string) {
    super(message);
    this.setting = setting;
  }
}

/** Returns the receiver of the settings, with the present contents of its files. @throws {SyslogTargetError} */
export function syslogTarget(settings: SyslogSettings): SyslogTarget {
  const { syslog, syslog_ca: caPath, syslog_certificate: certificatePath, syslog_key: keyPath } = settings;
  const address = orRefused("syslog", () => parseAddressWithPort(syslog, "logs.example.org:6514 or [fd00::5]:6514"));
  if (address.port === 0) throw new SyslogTargetError("syslog", "the port must be between 1 and 65535; usual is 6514");
  if ((certificatePath === "") !== (keyPath === "")) {
    const lacking = keyPath === "" ? "syslog_key" : "syslog_certificate";
    throw new SyslogTargetError(lacking, "set both audit.syslog_certificate and audit.syslog_key, or none of them");
  }
  const authorities = caPath === "" ? null : readCertificates("syslog_ca", caPath);
  if (certificatePath === "") return { ...address, authorities, own: null };
  const certificate = readCertificates("syslog_certificate", certificatePath);
  const key = read("syslog_key", keyPath);
  const parsed = orRefused("syslog_key", () => createPrivateKey(key), `${keyPath} contains no usable private key`);
  if (!new X509Certificate(certificate).checkPrivateKey(parsed)) {
    throw new SyslogTargetError(
      "syslog_key",
      `the key in ${keyPath} does not belong to the first certificate in ${certificatePath}`,
    );
  }
  return { ...address, authorities, own: { certificate, key } };
}

function read(setting: SyslogTargetError["setting"], path: string): string {
  return orRefused(setting, () => readFileSync(path, "utf8"), `can't read ${path}`);
}

const pemCertificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Reads a file with one or more certificates, all of which can be parsed. */
function readCertificates(setting: SyslogTargetError["setting"], path: string): string {
  const certificates = read(setting, path).match(pemCertificate) ?? [];
  if (certificates.length === 0) {
    throw new SyslogTargetError(setting, `${path} contains no certificate in PEM format (-----BEGIN CERTIFICATE-----)`);
  }
  for (const certificate of certificates) {
    orRefused(setting, () => new X509Certificate(certificate), `${path} contains an unusable certificate`);
  }
  return certificates.join("\n");
}

/** @param reason text before the message of an error */
function orRefused<T>(setting: SyslogTargetError["setting"], get: () => T, reason?: string): T {
  try {
    return get();
  } catch (error) {
    const message = messageOf(error);
    throw new SyslogTargetError(setting, reason === undefined ? message : `${reason}: ${message}`);
  }
}
