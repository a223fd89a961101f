import { BlockList, isIP, isIPv4 } from "node:net";

/** Addresses, such as those of the proxies whose forwarding headers are trusted. */
export type Networks = Pick<BlockList, "check">;

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
 * Parses the operator's list: `10.0.0.5`, `10.0.0.0/24`, `fd12:3456::/32`.
 * @throws {Error} that names the first entry that is not valid, or that has every address
 */
export function parseNetworks(entries: readonly string[]): Networks {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = "", prefix, ...more] = entry.trim().split("/");
    const longest = isIPv4(address) ? 32 : 128;
    if (isIP(address) === 0 || address.includes("%") || more.length > 0) {
      throw new Error(`${entry} is not an address or network; write 10.0.0.5, 10.0.0.0/24 or fd12:3456::/32`);
    }
    if (prefix !== undefined && !(/^\d{1,3}$/.test(prefix) && Number(prefix) >= 1 && Number(prefix) <= longest)) {
      throw new Error(
        `${entry}: the prefix length after the slash must be from 1 to ${longest}; trusting every address is not allowed`,
      );
    }
    list.addSubnet(address, Number(prefix ?? longest), longest === 32 ? "ipv4" : "ipv6");
  }
  return list;
}

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

/** Returns whether an address is in networks. */
export function includes(networks: Networks, address: string): boolean {
  const family = isIP(address);
  return family !== 0 && networks.check(address, family === 4 ? "ipv4" : "ipv6");
}

/** Removes the port and the brackets that some proxies write: `192.0.2.7:4711`, `[2001:db8::7]:4711`. */
function withoutPort(text: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
}

/** Returns an address without its zone, and IPv4-mapped IPv6 as IPv4; null if it is not an address. */
function plainAddress(text: string): string | null {
  const address = text.replace(/%.*$/, "");
  if (isIP(address) === 0) return null;
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}

/** Returns the last entry, which the trusted proxy has written. */
function schemeOf(header: string | null): Client["scheme"] {
  const last = header?.split(",").at(-1)?.trim().toLowerCase();
  return last === "http" || last === "https" ? last : null;
}

/** Returns whether an address is a loopback address: 127.0.0.0/8 or ::1. */
function isLoopback(address: string): boolean {
  return /^127(?:\.\d{1,3}){3}$/.test(address) || address === "::1";
}

/**
 * Returns the group by which attempts of an address are counted: an IPv4 address, or the /64 of an IPv6 address. A host
 * can use all addresses of its /64.
 */
function addressGroup(address: string): string {
  if (!address.includes(":")) return address;
  const [head = "", tail] = (address.split("%")[0] ?? "").split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const groups = [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill("0"), ...right];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":")}::/64`;
}
