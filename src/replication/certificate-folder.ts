import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Credentials, createAuthority, issueCertificate } from "../certificates/index.ts";
import { replaceFile } from "../files/index.ts";
import { StandbyError } from "./credentials.ts";

/** Port that the settings in the folders name. */
const PORT = 8788;

interface NewFolders {
  /** Hosts of the machines, under which they reach each other. */
  readonly machines: readonly string[];
  /** Those of them that get new certificates. The folder of another one must not exist. */
  readonly renew: readonly string[];
}

/**
 * Writes a folder with certificate, key and settings for each machine that may serve or follow: a takeover exchanges the
 * roles. The authority is created if the directory has none; its key never leaves the directory.
 * @throws {StandbyError} for a host that is none, or a folder that exists; nothing is changed then
 */
export async function writeCertificateFolders(directory: string, { machines, renew }: NewFolders, now: number) {
  const path = resolve(directory);
  for (const host of [...machines, ...renew]) requireHost(host);
  for (const host of machines) {
    if (existsSync(join(path, host))) throw new StandbyError(`${join(path, host)} exists already; use --renew ${host}`);
  }
  for (const host of renew) {
    if (!existsSync(join(path, host))) throw new StandbyError(`there is no ${join(path, host)}; use --machine ${host}`);
  }
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const authority = await authorityOf(path, now);
  for (const host of [...machines, ...renew]) {
    const issued = { name: host, addresses: [], purpose: "both" } as const;
    const { certificate, key } = await issueCertificate(authority, issued, now);
    const folder = join(path, host);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    replaceFile(join(folder, "ca.pem"), authority.certificate, 0o644);
    replaceFile(join(folder, "certificate.pem"), certificate, 0o644);
    replaceFile(join(folder, "key.pem"), key, 0o600);
    const other = machines.find((each) => each !== host);
    if (!renew.includes(host)) replaceFile(join(folder, "settings.toml"), settingsSnippet(other ?? null), 0o644);
  }
  return path;
}

async function authorityOf(path: string, now: number): Promise<Credentials> {
  const [certificatePath, keyPath] = [join(path, "ca.pem"), join(path, "ca-key.pem")];
  if (!existsSync(keyPath)) {
    const created = await createAuthority("transcribe standby authority", now);
    replaceFile(certificatePath, created.certificate, 0o644);
    replaceFile(keyPath, created.key, 0o600);
  }
  return { certificate: readFileSync(certificatePath, "utf8"), key: readFileSync(keyPath, "utf8") };
}

function settingsSnippet(other: string | null): string {
  const address = other?.includes(":") === true ? `[${other}]` : (other ?? "HOST");
  return `# Written by "transcribe standby init". Files are relative to this settings file's folder.
# The machine that runs "transcribe serve" listens, and the one that runs "transcribe standby" follows the other.
[standby]
listen = "0.0.0.0:${PORT}"
from = "tls://${address}:${PORT}"
ca = "ca.pem"
certificate = "certificate.pem"
key = "key.pem"
`;
}

/** Checks the host of a machine. @throws {StandbyError} */
export function requireHost(host: string): void {
  if (/^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,61}[A-Za-z0-9])?$/.test(host)) return;
  if (host.includes(":") && /^[0-9A-Fa-f:.]{2,45}$/.test(host)) return;
  throw new StandbyError(`"${host}" is not a host name of up to 63 characters, or an IP address`);
}
