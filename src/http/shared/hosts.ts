import type { X509Certificate } from "node:crypto";
import { isIP } from "node:net";

/** The host names of this server, in lower case. */
export type HostNames = ReadonlySet<string>;

/**
 * Parses the operator's list of host names: `transcribe.example.org`.
 * @throws {Error} that names the first entry which is not a host name
 */
export function parseHostNames(entries: readonly string[]): Set<string> {
  return new Set(
    entries.map((entry) => {
      // An internationalized name is compared in the form in which browsers send it.
      const name = hostOf(URL.parse(`http://${entry.trim()}/`)?.host ?? "");
      if (name !== null && !/[/@?#:]/.test(entry)) return name;
      throw new Error(`${entry} is not a host name; write transcribe.example.org, without https:// and without a port`);
    }),
  );
}

/**
 * Returns the reason why a request's `Host` header is refused, or null if it is accepted. In a DNS rebinding attack, a
 * page binds its own name to this server's address. The browser sends that name, so refusing it keeps the page from
 * /metrics and the sign-in. Addresses can't be rebound, so they are accepted. A request without a Host is accepted too:
 * HTTP/1.0 has none, and browsers always send one.
 * @param certificate the server's own: a browser sends no request before the name in its address matches the
 * certificate
 */
export function hostRefusal(
  header: string | null,
  names: HostNames,
  certificate: Pick<X509Certificate, "checkHost"> | null,
): string | null {
  if (header === null || header === "") return null;
  const name = hostOf(header);
  // Bun joins two Host headers with a comma, and both are refused (RFC 9112, 3.2).
  if (name === null) return "The request's Host header can't be read, or there are two.";
  if (isIP(name) !== 0 || name === "localhost" || name.endsWith(".localhost")) return null;
  if (names.has(name) || certificate?.checkHost(name) !== undefined) return null;
  return "This server does not serve the host that the request names; its operator lists host names in server.hosts.";
}

/**
 * Returns the host of a Host header (RFC 9110, 7.2) in lower case, without port, brackets and final dot; null if
 * invalid.
 */
function hostOf(header: string): string | null {
  const [, address, name] = /^(?:\[([\da-f:.]+)\]|([\w-]+(?:\.[\w-]+)*)\.?)(?::\d{0,5})?$/i.exec(header) ?? [];
  return (address ?? name)?.toLowerCase() ?? null;
}
