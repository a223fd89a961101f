import { type BlockList, isIP, isIPv4, isIPv6 } from "node:net";
import { networkList } from "./address-kind.ts";

/** Hosts and networks inside the customer's private network to which the server may connect. */
export interface AllowList {
  readonly hosts: ReadonlySet<string>;
  /** Host name suffixes with their leading dot. */
  readonly suffixes: readonly string[];
  readonly ipv4: BlockList;
  readonly ipv6: BlockList;
}

/**
 * Parses the operator's entries. An entry is one of: `media.example.org` (that host), `*.example.org` (every host below
 * it, at any depth, but not itself), `10.20.0.0/16` or `fd12:3456::/32` (a network), `10.20.0.7` or `fd12:3456::7` (one
 * address).
 * @throws {Error} at the first entry that has none of these forms; its message gives the correct notation
 */
export function parseAllowList(entries: readonly string[]): AllowList {
  const hosts = new Set<string>();
  const suffixes: string[] = [];
  const networks = { ipv4: [] as string[], ipv6: [] as string[] };
  for (const entry of entries) {
    const text = entry.trim();
    const address = (text.split("/", 1)[0] ?? "").replace(/^\[(.*)\]$/, "$1");
    if (isIP(address) !== 0) networks[isIPv4(address) ? "ipv4" : "ipv6"].push(parseNetwork(text, address));
    else if (text.startsWith("*.")) suffixes.push(`.${parseName(text, text.slice(2))}`);
    else hosts.add(parseName(text, text));
  }
  return { hosts, suffixes, ipv4: networkList("ipv4", networks.ipv4), ipv6: networkList("ipv6", networks.ipv6) };
}

/** Returns whether an entry names this host. `host` has the form that hostOf returns. */
export function allowsHost(allow: AllowList, host: string): boolean {
  return allow.hosts.has(host) || allow.suffixes.some((suffix) => host.endsWith(suffix));
}

/** Returns whether an entry contains this address. An IPv4 address mapped into IPv6 is matched as IPv6 only. */
export function allowsAddress(allow: AllowList, address: string): boolean {
  if (isIPv4(address)) return allow.ipv4.check(address, "ipv4");
  return isIPv6(address) && allow.ipv6.check(address, "ipv6");
}

/** Returns whether an entry permits a host, or a network in which its name may be: that shows when it is resolved. */
export function mayAllow(allow: AllowList, host: string): boolean {
  if (isIP(host) !== 0) return allowsAddress(allow, host);
  return allowsHost(allow, host) || allow.ipv4.rules.length > 0 || allow.ipv6.rules.length > 0;
}

function parseNetwork(entry: string, address: string): string {
  if (address.includes("%")) throw new Error(`${entry}: an address with a zone can't be allowed`);
  const [, prefix, ...more] = entry.split("/");
  if (prefix === undefined) return address;
  const longest = isIPv4(address) ? 32 : 128;
  if (more.length > 0 || !/^\d{1,3}$/.test(prefix) || Number(prefix) > longest) {
    throw new Error(`${entry}: a network is written as ${address}/N, with N from 0 to ${longest}`);
  }
  return `${address}/${prefix}`;
}

function parseName(entry: string, name: string): string {
  const help = "write a host (media.example.org, *.example.org) or a network (10.20.0.0/16, fd12:3456::/32)";
  if (name.includes("://") || /[/:@*?#\\[\]\s]/.test(name)) throw new Error(`${entry}: ${help}`);
  const host = URL.canParse(`http://${name}/`) ? hostOf(new URL(`http://${name}/`)) : "";
  if (host === "") throw new Error(`${entry}: ${help}`);
  if (isIP(host) !== 0) throw new Error(`${entry}: an address is written plainly, here ${host}`);
  return host;
}

/**
 * Returns the host of a parsed URL in the form used for comparisons. A name is in lower case and punycode as in the URL
 * standard, without the root's dot. An address is in its one plain notation (the parser accepts 0x7f.1 and 2130706433),
 * IPv6 without brackets.
 */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
}
