import { addressGroup, includes, isLoopback, type Networks, plainAddress } from "../../addresses/index.ts";

/** The client of a request, as far as the server can determine. */
export interface Client {
  /** IP address, with IPv4-mapped IPv6 as plain IPv4; empty without a socket. */
  readonly address: string;
  /** Group of addresses by which attempts are counted, see `addressGroup`. */
  readonly addressGroup: string;
  /** Whether the request comes from this machine: over loopback, and without a proxy's header from any source. */
  readonly isLocal: boolean;
  /**
   * Whether the address is that of the sender itself. It is not when a proxy that is not trusted has forwarded the
   * request, or when a trusted one does not name the sender.
   */
  readonly isSender: boolean;
  /** Scheme between the client and the proxy; null unless a trusted proxy reports it. */
  readonly scheme: "http" | "https" | null;
}

/** Headers that proxies add. Their presence alone shows that a request was forwarded. */
const forwardingHeaders = ["x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "forwarded", "via"];

/**
 * Determines the client of a request. Only the `X-Forwarded-For` of a trusted peer counts. It is read from the right,
 * since each proxy appends the address from which it received the request. The first address that is no trusted proxy
 * is the client; a client can invent everything left of it. An unreadable entry ends the search at the proxy that
 * passed it on. RFC 7239's `Forwarded` is not read: of two headers with the same purpose, a proxy sets one and passes
 * on the client's other.
 */
export function clientOf(peer: string, headers: Headers, proxies: Networks): Client {
  const isForwarded = forwardingHeaders.some((name) => headers.has(name));
  let address = plainAddress(peer) ?? peer;
  let scheme: Client["scheme"] = null;
  const isReported = isForwarded && includes(proxies, address);
  if (isReported) {
    address = senderOf(address, headers, proxies);
    scheme = schemeOf(headers.get("x-forwarded-proto"));
  }
  return {
    address,
    addressGroup: addressGroup(address),
    isLocal: !isForwarded && isLoopback(address),
    isSender: isReported === isForwarded && !includes(proxies, address),
    scheme,
  };
}

/** Returns the first address, from the right, that is no trusted proxy. */
function senderOf(peer: string, headers: Headers, proxies: Networks): string {
  let address = peer;
  for (const entry of (headers.get("x-forwarded-for") ?? "").split(",").reverse()) {
    const sender = plainAddress(withoutPort(entry.trim()));
    if (sender === null) break;
    address = sender;
    if (!includes(proxies, address)) break;
  }
  return address;
}

/** Removes the port and the brackets that some proxies write: `192.0.2.7:4711`, `[2001:db8::7]:4711`. */
function withoutPort(text: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
}

/** Returns the last entry, which the trusted proxy has written. */
function schemeOf(header: string | null): Client["scheme"] {
  const last = header?.split(",").at(-1)?.trim().toLowerCase();
  return last === "http" || last === "https" ? last : null;
}
