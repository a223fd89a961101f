/**
 * Returns the host of a parsed URL in the form used for comparisons: lower case and punycode as in the URL standard. An
 * address is in its one plain notation (the parser accepts 0x7f.1 and 2130706433). IPv6 has no brackets, and a name has
 * no root dot.
 */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
}
