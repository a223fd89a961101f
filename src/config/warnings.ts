import type { SettingFault } from "./fault.ts";
import type { Settings } from "./schema.ts";
import { writeQuantity } from "./units.ts";

/** Returns warnings for settings that are valid but have no useful effect in combination. */
export function settingWarnings(settings: Settings): SettingFault[] {
  const { audit, compat, console: webConsole, fetch, limits, live, oidc, retention, server, standby } = settings;
  // Settings that have no effect, or a different one than it seems.
  const rules: readonly [setting: string, applies: boolean, message: string][] = [
    ["fetch.allow", !fetch.enabled && fetch.allow.length > 0, "this has no effect while fetch.enabled is false"],
    [
      "compat.asr_networks",
      compat.asr_networks.length > 0 && !(compat.asr && compat.asr_key_account !== ""),
      "this has no effect without compat.asr and compat.asr_key_account",
    ],
    [
      "compat.asr_key_account",
      compat.asr_key_account !== "" && compat.asr_networks.length === 0,
      "this has no effect: compat.asr_networks is empty, so every request needs a key",
    ],
    [
      "audit.syslog_ca",
      audit.syslog_ca !== "" && audit.syslog === "",
      "this has no effect while audit.syslog is empty",
    ],
    [
      "live.wyoming_account",
      live.wyoming_account !== "" && live.wyoming === "",
      "this has no effect while live.wyoming is empty",
    ],
    [
      "live.wyoming_networks",
      live.wyoming_networks.length === 0 && live.wyoming !== "",
      "this is empty, so no Wyoming client can connect",
    ],
    [
      "live.wyoming_networks",
      live.wyoming_networks.some((network) => !isLocal(network)) && isLocal(live.wyoming),
      "live.wyoming is an address of this machine alone, so other machines cannot connect; listen on 0.0.0.0 for example",
    ],
    ["oidc.issuer", oidc.issuer !== "" && !webConsole.enabled, "this has no effect while console.enabled is false"],
    [
      "oidc.rules",
      oidc.issuer !== "" && oidc.rules.length === 0,
      "this is empty, so the provider signs in nobody; give people roles, e.g. operator: group admins",
    ],
    [
      "fetch.stall_seconds",
      fetch.stall_seconds >= fetch.timeout_seconds,
      `this has no effect: fetch.timeout_seconds already ends a download after ${writeQuantity(fetch.timeout_seconds, "seconds")}`,
    ],
    [
      "limits.creates_per_hour",
      limits.creates_per_hour > limits.creates_per_day,
      `this has no effect: limits.creates_per_day allows ${limits.creates_per_day} in a day`,
    ],
    [
      "retention.audio_days",
      retention.completed_days > 0 && retention.audio_days > retention.completed_days,
      `the audio is deleted with its transcript, after ${writeQuantity(retention.completed_days, "days")} (retention.completed_days)`,
    ],
    ["standby.wait", standby.wait && standby.listen === "", "this has no effect while standby.listen is empty"],
    [
      "server.hosts",
      server.hosts.length === 0 && server.trusted_proxies.length > 0 && server.tls_certificate === "",
      "this is empty, so the server refuses requests with a host name that the proxies forward, with 400; list the names by which clients reach the proxies",
    ],
  ];
  return rules.flatMap(([setting, applies, message]) => (applies ? [{ origin: null, setting, message }] : []));
}

/** Returns whether an address, a network or an address with a port is reachable from this machine alone. */
function isLocal(text: string): boolean {
  return /^(?:127\.|::1$|\[::1\]|localhost:)/.test(text);
}
