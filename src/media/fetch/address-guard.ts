import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { type SpecialAddressKind, specialAddressKind } from "./address-kind.ts";
import { type AllowList, allowsAddress, allowsHost } from "./allow-list.ts";

/**
 * What a name in the allow list opens: addresses inside walls. The others, above all the link-local ones where clouds keep
 * their credentials (169.254.169.254), take an entry with their network: a name's owner could point it there.
 */
const OPENED_BY_NAME: ReadonlySet<SpecialAddressKind> = new Set(["loopback", "private", "shared"]);

/** Says what forbids to connect to an address that a host resolved to, or null where nothing does. */
export type AddressGuard = (host: string, address: string) => string | null;

/**
 * The guard of one operator's walls: an address passes that is public, that the allow list holds, or that is inside the walls and
 * belongs to a host that the list names.
 * @param ownAddresses those of this machine: a public one is a way into its services around the firewall
 */
export function addressGuard(allow: AllowList, ownAddresses: ReadonlySet<string>): AddressGuard {
  return (host, address) => {
    if (allowsAddress(allow, address)) return null;
    const kind = specialAddressKind(address) ?? (ownAddresses.has(address) ? "own" : null);
    if (kind === null) return null;
    const opened = kind === "own" || OPENED_BY_NAME.has(kind);
    return opened && allowsHost(allow, host) ? null : kind;
  };
}

/**
 * What is known to be forbidden before a look-up: an address as host, which no look-up ever sees, and the names that
 * stand for this machine everywhere (RFC 6761, section 6.3). `host` as hostOf gives it.
 */
export function forbiddenHost(guard: AddressGuard, host: string): string | null {
  if (isIP(host) !== 0) return guard(host, host);
  return host === "localhost" || host.endsWith(".localhost") ? guard(host, "127.0.0.1") : null;
}

/** Addresses of this machine's network interfaces, as the system writes them. */
export function ownAddresses(): ReadonlySet<string> {
  return new Set(Object.values(networkInterfaces()).flatMap((addresses) => addresses?.map((a) => a.address) ?? []));
}
