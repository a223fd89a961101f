import { BlockList, isIP } from "node:net";

/**
 * Special-purpose networks by kind. Sources: the special-purpose address registries of the IANA for IPv4 and IPv6 (RFC
 * 6890 and its successors). Blocks that are listed there as globally reachable (AS112, AMT) are omitted, unless they
 * embed another address. The first network that contains an address determines its kind.
 */
const SPECIAL_IPV4 = {
  unspecified: ["0.0.0.0/8"],
  loopback: ["127.0.0.0/8"],
  private: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"],
  shared: ["100.64.0.0/10"],
  "link-local": ["169.254.0.0/16"],
  // The host agent of every virtual machine at Azure, whose address is in the public range.
  "cloud metadata": ["168.63.129.16/32"],
  "protocol assignment": ["192.0.0.0/24"],
  documentation: ["192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"],
  benchmarking: ["198.18.0.0/15"],
  // The retired anycast relays of 6to4 (RFC 7526).
  tunnel: ["192.88.99.0/24"],
  multicast: ["224.0.0.0/4"],
  reserved: ["240.0.0.0/4"],
};

const SPECIAL_IPV6 = {
  unspecified: ["::/128"],
  loopback: ["::1/128"],
  // Embedded IPv4 addresses, which a translator or this machine would extract: mapped (RFC 4291), compatible (retired),
  // SIIT (RFC 2765), NAT64 with the well-known prefix and with a local one (RFC 6052, RFC 8215).
  translated: ["::ffff:0:0/96", "::/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48"],
  private: ["fc00::/7", "fec0::/10"],
  "link-local": ["fe80::/10"],
  multicast: ["ff00::/8"],
  // Teredo and 6to4 also embed an IPv4 address.
  tunnel: ["2001::/32", "2002::/16"],
  benchmarking: ["2001:2::/48"],
  overlay: ["2001:10::/28", "2001:20::/28"],
  "protocol assignment": ["2001::/23"],
  documentation: ["2001:db8::/32", "3fff::/20"],
  // The address space of the 6bone, returned in 2006 (RFC 3701).
  reserved: ["3ffe::/16"],
};

/** Purpose of an address that is not publicly reachable. */
export type SpecialAddressKind = keyof typeof SPECIAL_IPV4 | keyof typeof SPECIAL_IPV6 | "unassigned" | "unreadable";

const ipv4Kinds = kindsOf("ipv4", SPECIAL_IPV4);
const ipv6Kinds = kindsOf("ipv6", SPECIAL_IPV6);
/** IPv6 space allocated for global use (RFC 4291, section 2.4). Addresses outside it are refused. */
const globalIpv6 = networkList("ipv6", ["2000::/3"]);

/**
 * Returns the kind of a special address; null for an address that is publicly reachable. Fails closed: text that is not
 * an address in plain notation is `unreadable`, and unallocated IPv6 space is `unassigned`.
 */
export function specialAddressKind(address: string): SpecialAddressKind | null {
  const family = isIP(address);
  if (family === 4) return ipv4Kinds.find(({ networks }) => networks.check(address, "ipv4"))?.kind ?? null;
  if (family !== 6) return "unreadable";
  // Only link-local addresses have a zone, and BlockList accepts no zone.
  if (address.includes("%")) return "link-local";
  const special = ipv6Kinds.find(({ networks }) => networks.check(address, "ipv6"));
  if (special !== undefined) return special.kind;
  return globalIpv6.check(address, "ipv6") ? null : "unassigned";
}

function kindsOf<Kind extends SpecialAddressKind>(family: "ipv4" | "ipv6", table: Record<Kind, string[]>) {
  const entries = Object.entries(table) as [Kind, string[]][];
  return entries.map(([kind, cidrs]) => ({ kind, networks: networkList(family, cidrs) }));
}

/**
 * Builds a list of networks of one family from CIDR notation. An address without a prefix is a network of one address.
 * @throws the error of BlockList for text that is no address, and for a prefix that is too long
 */
export function networkList(family: "ipv4" | "ipv6", cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [address = "", prefix] = cidr.split("/");
    list.addSubnet(address, Number(prefix ?? (family === "ipv4" ? 32 : 128)), family);
  }
  return list;
}
