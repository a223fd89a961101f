import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { type SpecialAddressKind, specialAddressKind } from "./address-kind.ts";
import { type AllowList, allowsAddress, allowsHost } from "./allow-list.ts";

/**
 * Kinds of private addresses that a host name in the allow list permits. All other kinds require an entry with their
 * network, because the owner of a name could point it there. The most important of them are the link-local addresses
 * where clouds serve their credentials (169.254.169.254).
 */
const OPENED_BY_NAME: ReadonlySet<SpecialAddressKind> = new Set(["loopback", "private", "shared"]);

/**
 * Returns the reason why a connection to an address that a host resolved to is forbidden, or null if it is permitted.
 */
export type AddressGuard = (host: string, address: string) => string | null;

/**
 * Creates the guard for an operator's private network. An address is permitted if it is public or the allow list
 * contains it. A private address is also permitted if it belongs to a host that the list names.
 * @param ownAddresses addresses of this machine; a public one would give access to its services around the firewall
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
 * Returns the reason why a host is forbidden that is known before name resolution, or null. This covers a host that is
 * an IP address, which is never resolved, and the names that denote this machine everywhere (RFC 6761, section 6.3).
 * `host` has the form that hostOf returns.
 */
export function forbiddenHost(guard: AddressGuard, host: string): string | null {
  if (isIP(host) !== 0) return guard(host, host);
  return host === "localhost" || host.endsWith(".localhost") ? guard(host, "127.0.0.1") : null;
}

/** Returns the addresses of this machine's network interfaces, in the system's notation. */
export function ownAddresses(): ReadonlySet<string> {
  return new Set(Object.values(networkInterfaces()).flatMap((addresses) => addresses?.map((a) => a.address) ?? []));
}
