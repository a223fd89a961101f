const loopback = ["localhost", "127.0.0.1", "::1", "[::1]"];

/**
 * Leaves this machine itself out of what goes through a proxy: none is a way to it. Both spellings are set, as the small
 * one wins where both are there.
 */
export function directLoopback(environment: NodeJS.ProcessEnv): void {
  const given = environment.no_proxy ?? environment.NO_PROXY;
  const value = [...(given ? [given] : []), ...loopback].join(",");
  environment.NO_PROXY = value;
  environment.no_proxy = value;
}
