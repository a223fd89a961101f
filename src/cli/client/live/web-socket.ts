import type { LiveSocketClass } from "../../../../sdk/typescript/src/index.ts";
import type { ServerTrust } from "../../../api-contract/index.ts";

/**
 * Returns a class of WebSockets that trust the same certificates and use the same proxies as the requests of `fetch`,
 * which reads the proxies from the environment by itself.
 */
export function webSocketClass({ tls }: ServerTrust, environment: NodeJS.ProcessEnv): LiveSocketClass {
  return class extends WebSocket {
    constructor(url: string, protocols: string[]) {
      const proxy = proxyFor(new URL(url), environment);
      super(url, { protocols, ...(tls === undefined ? {} : { tls }), ...(proxy === null ? {} : { proxy }) });
    }
  };
}

/** Returns the proxy for an address; null for none. The lower-case variables win. */
export function proxyFor({ protocol, hostname, port }: URL, environment: NodeJS.ProcessEnv): string | null {
  const isTls = protocol === "wss:";
  const [lower, upper] = isTls ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy", "HTTP_PROXY"];
  const proxy = environment[lower] ?? environment[upper] ?? "";
  if (proxy === "") return null;
  const excluded = (environment.no_proxy ?? environment.NO_PROXY ?? "").split(",").map((each) => each.trim());
  const named = `${hostname}:${port || (isTls ? "443" : "80")}`;
  const isExcluded = excluded.some((each) => {
    if (each === "") return false;
    const suffix = each.replace(/^\*?\./, "");
    return each === "*" || [hostname, named].some((name) => name === suffix || name.endsWith(`.${suffix}`));
  });
  return isExcluded ? null : proxy;
}
