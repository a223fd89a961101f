import { type LookupAddress, lookup as systemLookup } from "node:dns";
import { isIPv4, type LookupFunction } from "node:net";
import type { AddressGuard } from "./address-guard.ts";
import { FetchError } from "./fetch-error.ts";

/** Asks for all addresses of a host, A and AAAA. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

/** The system's own look-up, hosts file and name servers. Throws its errors. */
export const resolveHost: ResolveHost = (host) =>
  new Promise((resolve, reject) => {
    systemLookup(host, { all: true }, (error, found) => {
      if (error) reject(error);
      else resolve(found.map(({ address }) => address));
    });
  });

/**
 * A look-up for sockets that hands on only addresses which passed the guard: the socket connects to these very addresses, so
 * a name server that answers otherwise the next time changes nothing. One forbidden address forbids the whole answer, as an honest
 * host has no mixed set. Fails with FetchError `fetch_blocked_address` or `fetch_dns_failed`.
 */
export function guardedLookup(host: string, guard: AddressGuard, resolve: ResolveHost): LookupFunction {
  return (name, options, callback) => {
    // The socket's name is the URL's, where the root's dot may stand at the end; the guard knows it as `host`.
    resolve(name).then(
      (addresses) => {
        const error = refusal(host, addresses, guard);
        const found: LookupAddress[] = addresses.map((address) => ({ address, family: isIPv4(address) ? 4 : 6 }));
        const [first] = found;
        if (error !== null || first === undefined) callback(error, []);
        else if (options.all) callback(null, found);
        else callback(null, first.address, first.family);
      },
      (cause: unknown) => callback(new FetchError("fetch_dns_failed", `${host} does not resolve`, { cause }), []),
    );
  };
}

function refusal(host: string, addresses: readonly string[], guard: AddressGuard): FetchError | null {
  if (addresses.length === 0) return new FetchError("fetch_dns_failed", `${host} has no address`);
  for (const address of addresses) {
    const forbidden = guard(host, address);
    if (forbidden !== null) return blocked(host, address, forbidden);
  }
  return null;
}

/** The error for an address that the guard forbids. */
export function blocked(host: string, address: string, kind: string): FetchError {
  const way = "fetch.allow can open hosts and networks";
  return new FetchError("fetch_blocked_address", `${host} is at a ${kind} address, ${address} (${way})`);
}
