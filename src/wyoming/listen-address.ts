/** An address to listen on. */
export interface ListenAddress {
  readonly host: string;
  /** 0 chooses a free port. */
  readonly port: number;
}

/** Parses `HOST:PORT` or `[IPv6]:PORT`. @throws {Error} that says what is valid */
export function parseListenAddress(text: string): ListenAddress {
  const [, ipv6, name, digits = ""] = /^(?:\[([0-9A-Za-z:.%]+)\]|([A-Za-z0-9._-]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = ipv6 ?? name;
  const port = Number(digits);
  if (host !== undefined && port <= 65_535) return { host, port };
  throw new Error(`${text} is not an address with a port; write 127.0.0.1:10300, 0.0.0.0:10300 or [::]:10300`);
}

/** Formats an address as it is written in the settings. */
export function formatListenAddress({ host, port }: ListenAddress): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
