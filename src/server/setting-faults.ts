import { type SettingFault, type Settings, withoutPassword } from "../config/index.ts";
import { parseHostNames, parseTrustedProxies } from "../http/index.ts";
import { parseAllowList } from "../media/index.ts";
import { messageOf } from "../text/index.ts";

/**
 * Returns the faults in settings that their types allow: texts that cannot be parsed, and a setting that needs another
 * one.
 */
export function settingFaults({ fetch, server }: Settings): SettingFault[] {
  const oneOfPair = (server.tls_certificate === "") !== (server.tls_key === "");
  return [
    ...faultOf("fetch.allow", () => parseAllowList(fetch.allow)),
    ...faultOf("server.trusted_proxies", () => parseTrustedProxies(server.trusted_proxies)),
    ...faultOf("server.hosts", () => parseHostNames(server.hosts)),
    ...(oneOfPair ? [fault(server.tls_key === "" ? "server.tls_certificate" : "server.tls_key", together)] : []),
  ];
}

const together = "server.tls_certificate and server.tls_key go together: set both, or none for plain HTTP";

function faultOf(setting: string, read: () => unknown): SettingFault[] {
  try {
    read();
    return [];
  } catch (error) {
    return [fault(setting, messageOf(error))];
  }
}

function fault(setting: string, message: string): SettingFault {
  return { origin: null, setting, message: withoutPassword(message) };
}
