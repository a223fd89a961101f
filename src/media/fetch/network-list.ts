import { BlockList } from "node:net";

export type AddressFamily = "ipv4" | "ipv6";

/**
 * Builds a list of networks of one family from CIDR notation. An address without a prefix is a network of one address.
 * @throws the error of BlockList for text that is no address, and for a prefix that is too long
 */
export function networkList(family: AddressFamily, cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [address = "", prefix] = cidr.split("/");
    list.addSubnet(address, Number(prefix ?? (family === "ipv4" ? 32 : 128)), family);
  }
  return list;
}
