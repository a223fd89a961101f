import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { messageOf } from "../text/index.ts";
import { poolOf } from "./machine-names.ts";

/** Files with which a machine connects to the broker. */
interface CredentialFiles {
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
  /** This machine's name. */
  readonly machine: string;
}

/** Returns why a machine's certificate cannot be used, and what to do; null if it can. @param now since 1970 */
export function credentialsTrouble({ ca, certificate, key, machine }: CredentialFiles, now: number): string | null {
  for (const [setting, path] of Object.entries({ ca, certificate, key })) {
    if (path === "") return `fleet.${setting} is not set; transcribe fleet init writes the file and the setting`;
    try {
      readFileSync(path);
    } catch (error) {
      return `fleet.${setting}: ${path} cannot be read (${messageOf(error)}); copy it from the folder that transcribe fleet init wrote for this machine, readable by the program's user`;
    }
  }
  try {
    const authority = new X509Certificate(readFileSync(ca));
    const own = new X509Certificate(readFileSync(certificate));
    const inits = "copy ca.pem, certificate.pem and key.pem from the same folder of transcribe fleet init";
    if (!own.checkIssued(authority) || !own.verify(authority.publicKey)) {
      return `the certificate ${certificate} was not issued by the authority in ${ca}; ${inits}`;
    }
    if (!own.checkPrivateKey(createPrivateKey(readFileSync(key)))) {
      return `the key ${key} does not belong to the certificate ${certificate}; ${inits}`;
    }
    const name = /^CN=(.+)$/m.exec(own.subject)?.[1] ?? "";
    const nameTrouble = certificateNameTrouble(certificate, { name, isPool: isOfPool(own) }, machine);
    if (nameTrouble !== null) return nameTrouble;
    for (const [certificateName, { validFrom, validTo }] of [
      ["authority", authority],
      ["certificate", own],
    ] as const) {
      const clock = new Date(now).toISOString();
      if (now < Date.parse(validFrom)) {
        return `the fleet's ${certificateName} is valid from ${validFrom}, and this machine's clock shows ${clock}; set the clock`;
      }
      if (now > Date.parse(validTo)) {
        return `the fleet's ${certificateName} expired on ${validTo} (this machine's clock shows ${clock}); renew it: transcribe fleet init --renew ${name}`;
      }
    }
    return null;
  } catch (error) {
    return `fleet.ca, fleet.certificate and fleet.key must be PEM files of transcribe fleet init (${messageOf(error)})`;
  }
}

/** Returns when a machine's certificate or the fleet's authority expires, whichever is first. */
export function credentialsEnd({ ca, certificate }: Pick<CredentialFiles, "ca" | "certificate">): number {
  return Math.min(...[ca, certificate].map((path) => Date.parse(new X509Certificate(readFileSync(path)).validTo)));
}

/** Explains why a connection to the broker failed, and what to do. @param trouble the client's message */
export function connectionTrouble(url: string, trouble: string): string {
  const advice = adviceFor(trouble);
  return `cannot connect to the broker ${url}: ${trouble}${advice === "" ? "" : `; ${advice}`}`;
}

function adviceFor(trouble: string): string {
  if (/authorization|authentication/i.test(trouble)) {
    return "the broker's nats.conf has no user for this machine's certificate; add the machine (transcribe fleet init --add NAME) and reload the broker with the new nats.conf";
  }
  if (/self.signed|unable to (?:get|verify)|unknown (?:ca|authority)|issuer/i.test(trouble)) {
    return "the broker's certificate is of another authority than fleet.ca; use the broker's folder and this machine's folder of the same transcribe fleet init";
  }
  if (/altname|hostname|identity/i.test(trouble)) {
    return "the broker's certificate is not for this address; use an address given to transcribe fleet init --broker";
  }
  if (/certificate|tls|ssl|alert/i.test(trouble)) {
    return "the broker refuses this machine's certificate; use the broker's folder and this machine's folder of the same transcribe fleet init, and check both clocks";
  }
  return AWAY.test(trouble) ? AWAY_ADVICE : "";
}

const AWAY = /refused|reset|closed|timeout|unreachable|not found|resolve|dns/i;
const AWAY_ADVICE = "check that nats-server runs there and that no firewall blocks the port";

/** Returns whether a connection failed because the broker did not answer. @param trouble the client's message */
export function isAway(trouble: string): boolean {
  return adviceFor(trouble) === AWAY_ADVICE;
}

/** Returns whether a certificate is of a pool: it is then also valid for all names below the pool's name. */
function isOfPool({ subjectAltName = "" }: X509Certificate): boolean {
  return subjectAltName.split(", ").some((name) => name.startsWith("DNS:*."));
}

function certificateNameTrouble(
  path: string,
  { name, isPool }: { readonly name: string; readonly isPool: boolean },
  machine: string,
): string | null {
  const pool = poolOf(machine);
  if (isPool) {
    if (pool === name) return null;
    const found = pool === "" ? "this machine's settings name no pool" : `this machine is of the pool "${pool}"`;
    return `the certificate ${path} is for the pool "${name}", and ${found}; set fleet.pool = "${name}", or use the right certificate`;
  }
  if (pool !== "") {
    return `the certificate ${path} is for the machine "${name}", and this machine is of the pool "${pool}"; use the pool's certificate, or remove fleet.pool and set fleet.machine = "${name}"`;
  }
  if (name === machine) return null;
  return `the certificate ${path} is for the machine "${name}", and this machine is "${machine}"; set fleet.machine = "${name}", or use the right certificate`;
}
