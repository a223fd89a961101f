/** A host and a TCP port. */
export interface AddressWithPort {
  readonly host: string;
  /** 0 chooses a free port, for an address to listen on. */
  readonly port: number;
}

/**
 * Parses `HOST:PORT` or `[IPv6]:PORT`.
 * @param examples valid addresses, for the message: `127.0.0.1:10300 or [::]:10300`
 * @throws {Error} that says what is valid
 */
export function parseAddressWithPort(text: string, examples: string): AddressWithPort {
  const [, ipv6, name, digits = ""] = /^(?:\[([0-9A-Za-z:.%]+)\]|([A-Za-z0-9._-]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = ipv6 ?? name;
  const port = Number(digits);
  if (host !== undefined && port <= 65_535) return { host, port };
  throw new Error(`${text} is not an address with a port; write ${examples}`);
}

/** Formats an address as it is written in the settings. */
export function formatAddressWithPort({ host, port }: AddressWithPort): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
