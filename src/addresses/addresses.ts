import { BlockList, isIP, isIPv4 } from "node:net";

/** Addresses, such as those of the proxies whose forwarding headers are trusted. */
export type Networks = Pick<BlockList, "check">;

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

/** Returns whether an address is in networks. */
export function includes(networks: Networks, address: string): boolean {
  const family = isIP(address);
  return family !== 0 && networks.check(address, family === 4 ? "ipv4" : "ipv6");
}

/** Returns an address without its zone, and IPv4-mapped IPv6 as IPv4; null if it is not an address. */
export function plainAddress(text: string): string | null {
  const address = text.replace(/%.*$/, "");
  if (isIP(address) === 0) return null;
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}

/** Returns whether an address is a loopback address: 127.0.0.0/8 or ::1. */
export function isLoopback(address: string): boolean {
  return /^127(?:\.\d{1,3}){3}$/.test(address) || address === "::1";
}

/**
 * Returns the group by which attempts of an address are counted: an IPv4 address, or the /64 of an IPv6 address. A host
 * can use all addresses of its /64.
 */
export function addressGroup(address: string): string {
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
