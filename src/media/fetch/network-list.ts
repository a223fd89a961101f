import { BlockList } from "node:net";

export type AddressFamily = "ipv4" | "ipv6";

/**
 * Networks of one family in CIDR notation; an address without a prefix is a network of its own.
 * Throws what BlockList throws for text that is no address, and for a prefix that is too long.
 */
export function networkList(family: AddressFamily, cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [address = "", prefix] = cidr.split("/");
    list.addSubnet(address, Number(prefix ?? (family === "ipv4" ? 32 : 128)), family);
  }
  return list;
}
