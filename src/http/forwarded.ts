import { BlockList, isIP, isIPv4 } from "node:net";

/** Proxies whose word on who asks is believed. */
export type TrustedProxies = Pick<BlockList, "check">;

/** Who asks, as far as the server can tell. */
export interface Client {
  /** IPv4 plainly, also where it came in the form of IPv6; empty where there is no socket. */
  readonly address: string;
  /** Whether the request says that a proxy passed it on, whoever that was: then it is none of this machine's own. */
  readonly forwarded: boolean;
  /** What the client spoke to the proxy; null where no trusted proxy says so. */
  readonly scheme: "http" | "https" | null;
}

/** Headers that proxies leave. Their presence is telling, whatever they say. */
const traces = ["x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "forwarded", "via"];

/**
 * Reads the operator's list: `10.0.0.5`, `10.0.0.0/24`, `fd12:3456::/32`.
 * @throws {Error} that names the first entry which is none, or which trusts everybody
 */
export function parseTrustedProxies(entries: readonly string[]): TrustedProxies {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = "", prefix, ...more] = entry.trim().split("/");
    const longest = isIPv4(address) ? 32 : 128;
    if (isIP(address) === 0 || address.includes("%") || more.length > 0) {
      throw new Error(`${entry} is no address or network; write 10.0.0.5, 10.0.0.0/24 or fd12:3456::/32`);
    }
    if (prefix !== undefined && !(/^\d{1,3}$/.test(prefix) && Number(prefix) >= 1 && Number(prefix) <= longest)) {
      throw new Error(`${entry}: the number after the stroke goes from 1 to ${longest}; none may trust everybody`);
    }
    list.addSubnet(address, Number(prefix ?? longest), longest === 32 ? "ipv4" : "ipv6");
  }
  return list;
}

/**
 * Who asks. Only a trusted peer's `X-Forwarded-For` counts, read from the right: each proxy adds there whom it heard from,
 * so the first address that is no trusted proxy is the client, and what stands left of it is the client's own invention.
 * An entry that can't be read ends the search at the proxy that passed it on. RFC 7239's `Forwarded` is not read: of two
 * headers with the same purpose a proxy sets one and lets the client's other pass.
 */
export function clientOf(peer: string, headers: Headers, proxies: TrustedProxies): Client {
  const forwarded = traces.some((name) => headers.has(name));
  let address = plainAddress(peer) ?? peer;
  if (!forwarded || !isTrusted(address, proxies)) return { address, forwarded, scheme: null };
  for (const entry of (headers.get("x-forwarded-for") ?? "").split(",").reverse()) {
    const heardFrom = plainAddress(withoutPort(entry.trim()));
    if (heardFrom === null) break;
    address = heardFrom;
    if (!isTrusted(address, proxies)) break;
  }
  return { address, forwarded, scheme: schemeOf(headers.get("x-forwarded-proto")) };
}

function isTrusted(address: string, proxies: TrustedProxies): boolean {
  const family = isIP(address);
  return family !== 0 && proxies.check(address, family === 4 ? "ipv4" : "ipv6");
}

/** `192.0.2.7:4711` and `[2001:db8::7]:4711`, as some proxies write them, without the port and the brackets. */
function withoutPort(text: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
}

/** The address without a zone, IPv4 in its own form; null for what is none. */
function plainAddress(text: string): string | null {
  const address = text.replace(/%.*$/, "");
  if (isIP(address) === 0) return null;
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}

/** The last word is that of the proxy which is trusted. */
function schemeOf(header: string | null): Client["scheme"] {
  const last = header?.split(",").at(-1)?.trim().toLowerCase();
  return last === "http" || last === "https" ? last : null;
}
