const loopback = ["localhost", "127.0.0.1", "::1", "[::1]"];

/**
 * Excludes this machine's loopback addresses from proxies, because a proxy can't reach them. Sets both spellings,
 * because the lower-case variable wins if both exist.
 */
export function directLoopback(environment: NodeJS.ProcessEnv): void {
  const given = environment.no_proxy ?? environment.NO_PROXY;
  const value = [...(given ? [given] : []), ...loopback].join(",");
  environment.NO_PROXY = value;
  environment.no_proxy = value;
}
