import { isIP } from "node:net";
import type { X509Certificate } from "@peculiar/x509";

/** A certificate and its private key, both PEM. */
export interface Credentials {
  readonly certificate: string;
  readonly key: string;
}

/** Purpose of a certificate: for a TLS server, a TLS client, or a machine that may be either. */
type Purpose = "server" | "client" | "both";

const DAY_MILLISECONDS = 24 * 60 * 60 * 1000;
/** Lifetime of an authority. A new authority means new certificates for all machines at once. */
const AUTHORITY_DAYS = 3650;
/** Lifetime of a certificate; docs/fleet.md and docs/standby.md explain the rotation. */
const CERTIFICATE_DAYS = 730;
/** Certificates are valid from a day ago, for machines with slow clocks. */
const BACKDATED_DAYS = 1;

/** ECDSA P-256: nats-server, Bun and every TLS 1.2 client support it, and its signatures are short. */
const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

/**
 * Creates an authority, which signs the certificates of the machines of one fleet, or of a server and its standby, and of
 * nothing else.
 * @param name its common name
 */
export async function createAuthority(name: string, now: number): Promise<Credentials> {
  const x509 = await library();
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: `CN=${name}`,
    ...lifetime(now, AUTHORITY_DAYS),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      // It may sign no further authority.
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return credentials(certificate, keys.privateKey);
}

/**
 * Issues a certificate for a machine.
 * @param name becomes the common name of the subject, by which others know the machine
 * @param addresses host names and IP addresses under which clients reach the machine, besides its name
 */
export async function issueCertificate(
  authority: Credentials,
  { name, addresses, purpose }: { name: string; addresses: readonly string[]; purpose: Purpose },
  now: number,
): Promise<Credentials> {
  const x509 = await library();
  const { KeyUsagesExtension, KeyUsageFlags, ExtendedKeyUsage } = x509;
  const issuer = new x509.X509Certificate(authority.certificate);
  const signingKey = await crypto.subtle.importKey("pkcs8", derOf(authority.key), algorithm, false, ["sign"]);
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const names = [...new Set([name, ...addresses])].map(
    (value) => ({ type: isIP(value) ? "ip" : "dns", value }) as const,
  );
  const certificate = await x509.X509CertificateGenerator.create({
    subject: `CN=${name}`,
    issuer: issuer.subject,
    ...lifetime(now, CERTIFICATE_DAYS, issuer.notAfter),
    signingAlgorithm: algorithm,
    publicKey: keys.publicKey,
    signingKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      // A client's certificate must not let it pretend to be a server.
      new x509.ExtendedKeyUsageExtension([
        ...(purpose === "client" ? [] : [ExtendedKeyUsage.serverAuth]),
        ...(purpose === "server" ? [] : [ExtendedKeyUsage.clientAuth]),
      ]),
      new x509.SubjectAlternativeNameExtension(names),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
  return credentials(certificate, keys.privateKey);
}

function lifetime(now: number, days: number, latest = new Date(8.64e15)): { notBefore: Date; notAfter: Date } {
  const end = new Date(now + days * DAY_MILLISECONDS);
  return { notBefore: new Date(now - BACKDATED_DAYS * DAY_MILLISECONDS), notAfter: end < latest ? end : latest };
}

async function credentials(certificate: X509Certificate, key: CryptoKey): Promise<Credentials> {
  const der = await crypto.subtle.exportKey("pkcs8", key);
  const { PemConverter } = await library();
  return { certificate: `${certificate.toString("pem")}\n`, key: `${PemConverter.encode(der, "PRIVATE KEY")}\n` };
}

function derOf(pem: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.from(pem.replaceAll(/-----[^-]+-----|\s/g, ""), "base64"));
}

/** Loads the library only when certificates are made. It needs the metadata of decorators. */
async function library(): Promise<typeof import("@peculiar/x509")> {
  await import("reflect-metadata");
  return import("@peculiar/x509");
}
