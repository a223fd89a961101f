import { type LookupAddress, lookup as systemLookup } from "node:dns";
import { isIPv4, type LookupFunction } from "node:net";
import type { AddressGuard } from "./address-guard.ts";
import { FetchError } from "./fetch-error.ts";

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

/**
 * Creates a look-up function for sockets that returns only addresses which passed the guard. The socket connects to
 * these exact addresses, so a different answer of the name server to a later query has no effect. One forbidden address
 * forbids the whole answer, because an honest host never mixes public and private addresses. Fails with FetchError
 * `fetch_blocked_address` or `fetch_dns_failed`.
 */
export function guardedLookup(host: string, guard: AddressGuard, resolve: ResolveHost): LookupFunction {
  return (name, options, callback) => {
    // The socket passes the URL's name, which may end with the root's dot. The guard uses `host`, which has no such
    // dot.
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

/** Creates the error for an address that the guard forbids. */
export function blocked(host: string, address: string, kind: string): FetchError {
  const way = "fetch.allow can open hosts and networks";
  return new FetchError("fetch_blocked_address", `${host} is at a ${kind} address, ${address} (${way})`);
}
