/**
 * The host of a parsed URL as it is compared here: lower case and punycode as the URL standard writes it, an address in its
 * one plain spelling (the parser reads 0x7f.1 and 2130706433), IPv6 without brackets, a name without the root's dot.
 */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
}
