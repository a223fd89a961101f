import { type LookupAddress, lookup as systemLookup } from "node:dns";
import { isIP, isIPv4, type LookupFunction, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { type SpecialAddressKind, specialAddressKind } from "./address-kind.ts";
import { type AllowList, allowsAddress, allowsHost } from "./allow-list.ts";

/**
 * Kinds of private addresses that a host name in the allow list permits. All other kinds require an entry with their
 * network, because the owner of a name could point it there. The most important of them are the link-local addresses
 * where clouds serve their credentials (169.254.169.254).
 */
const OPENED_BY_NAME: ReadonlySet<SpecialAddressKind> = new Set(["loopback", "private", "shared"]);

/** Returns why a connection to an address that a host resolved to is forbidden, or null if it is permitted. */
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
 * Creates the guard for connections without TLS: of the addresses that addressGuard permits, only those are permitted
 * that the allow list contains, or whose host it names.
 */
export function listedGuard(allow: AllowList, ownAddresses: ReadonlySet<string>): AddressGuard {
  const guard = addressGuard(allow, ownAddresses);
  const isListed = (host: string, address: string) => allowsAddress(allow, address) || allowsHost(allow, host);
  return (host, address) => guard(host, address) ?? (isListed(host, address) ? null : "public");
}

/**
 * Returns why a host is forbidden before name resolution, or null. This covers a host that is an IP address, which is
 * never resolved, and the names that denote this machine everywhere (RFC 6761, section 6.3).
 * @param host in the form that hostOf returns
 */
export function forbiddenHost(guard: AddressGuard, host: string): string | null {
  if (isIP(host) !== 0) return guard(host, host);
  return host === "localhost" || host.endsWith(".localhost") ? guard(host, "127.0.0.1") : null;
}

/** Returns the addresses of this machine's network interfaces, in the system's notation. */
export function ownAddresses(): ReadonlySet<string> {
  return new Set(Object.values(networkInterfaces()).flatMap((addresses) => addresses?.map((a) => a.address) ?? []));
}

/** Resolves all addresses of a host, A and AAAA. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

/** Resolves a host with the system's hosts file and name servers. Rejects with the system's errors. */
export const resolveHost: ResolveHost = (host) =>
  new Promise((resolve, reject) => {
    systemLookup(host, { all: true }, (error, found) => {
      if (error) reject(error);
      else resolve(found.map(({ address }) => address));
    });
  });

/** Why no connection to a host was opened: its name has no address, or the guard forbids one. */
export class GuardError extends Error {
  override readonly name = "GuardError";

  constructor(
    readonly fault: "blocked" | "unresolved",
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/**
 * Creates a look-up function for sockets that returns only addresses which passed the guard. The socket connects to
 * these exact addresses, so a different answer of the name server to a later query has no effect. One forbidden address
 * forbids the whole answer, because an honest host never mixes public and private addresses.
 * @throws {GuardError} to the callback
 */
export function guardedLookup(host: string, guard: AddressGuard, resolve: ResolveHost): LookupFunction {
  // The socket passes the URL's name, which may end with the root's dot. The guard uses `host`, which has no such dot.
  return (name, options, callback) => {
    resolve(name).then(
      (addresses) => {
        const error = refusal(host, addresses, guard);
        const found: LookupAddress[] = addresses.map((address) => ({ address, family: isIPv4(address) ? 4 : 6 }));
        const [first] = found;
        if (error !== null || first === undefined) callback(error, []);
        else if (options.all) callback(null, found);
        else callback(null, first.address, first.family);
      },
      (cause: unknown) => callback(new GuardError("unresolved", `${host} does not resolve`, { cause }), []),
    );
  };
}

function refusal(host: string, addresses: readonly string[], guard: AddressGuard): GuardError | null {
  if (addresses.length === 0) return new GuardError("unresolved", `${host} has no address`);
  for (const address of addresses) {
    const forbidden = guard(host, address);
    if (forbidden !== null) return blocked(host, address, forbidden);
  }
  return null;
}

/** Creates the error for an address that the guard forbids. */
export function blocked(host: string, address: string, kind: string): GuardError {
  return new GuardError("blocked", `${host} is at a ${kind} address, ${address}`);
}

/**
 * Checks the address to which a socket has connected. The guard is part of the look-up; this detects a runtime that
 * bypasses the look-up, before a byte is read.
 * @param fail receives the error of a forbidden address
 */
export function guardSocket(
  socket: Socket,
  host: string,
  guard: AddressGuard,
  fail: (error: GuardError) => void,
): void {
  socket.once("connect", () => {
    const address = socket.remoteAddress;
    const forbidden = address === undefined ? null : guard(host, address);
    if (address !== undefined && forbidden !== null) fail(blocked(host, address, forbidden));
  });
}
