import type { SettingFault } from "./fault.ts";
import type { Settings } from "./schema.ts";
import { writeQuantity } from "./units.ts";

interface Rule {
  /** The setting that has no effect, or a different one than it seems. */
  readonly setting: string;
  readonly applies: (settings: Settings) => boolean;
  readonly message: (settings: Settings) => string;
}

const rules: readonly Rule[] = [
  {
    setting: "fetch.allow",
    applies: ({ fetch }) => !fetch.enabled && fetch.allow.length > 0,
    message: () => "this has no effect while fetch.enabled is false",
  },
  {
    setting: "compat.asr_networks",
    applies: ({ compat }) => compat.asr_networks.length > 0 && !(compat.asr && compat.asr_key_account !== ""),
    message: () => "this has no effect without compat.asr and compat.asr_key_account",
  },
  {
    setting: "compat.asr_key_account",
    applies: ({ compat }) => compat.asr_key_account !== "" && compat.asr_networks.length === 0,
    message: () => "this has no effect: compat.asr_networks is empty, so every request needs a key",
  },
  {
    setting: "oidc.issuer",
    applies: ({ console, oidc }) => oidc.issuer !== "" && !console.enabled,
    message: () => "this has no effect while console.enabled is false",
  },
  {
    setting: "oidc.rules",
    applies: ({ oidc }) => oidc.issuer !== "" && oidc.rules.length === 0,
    message: () => "this is empty, so the provider signs in nobody; give people roles, e.g. operator: group admins",
  },
  {
    setting: "fetch.stall_seconds",
    applies: ({ fetch }) => fetch.stall_seconds >= fetch.timeout_seconds,
    message: ({ fetch }) =>
      `this has no effect: fetch.timeout_seconds already ends a download after ${writeQuantity(fetch.timeout_seconds, "seconds")}`,
  },
  {
    setting: "limits.creates_per_hour",
    applies: ({ limits }) => limits.creates_per_hour > limits.creates_per_day,
    message: ({ limits }) => `this has no effect: limits.creates_per_day allows ${limits.creates_per_day} in a day`,
  },
  {
    setting: "retention.audio_days",
    applies: ({ retention }) => retention.completed_days > 0 && retention.audio_days > retention.completed_days,
    message: ({ retention }) =>
      `the audio is deleted with its transcript, after ${writeQuantity(retention.completed_days, "days")} (retention.completed_days)`,
  },
  {
    setting: "server.hosts",
    applies: ({ server }) =>
      server.hosts.length === 0 && server.trusted_proxies.length > 0 && server.tls_certificate === "",
    message: () =>
      "this is empty, so the server refuses requests with a host name that the proxies forward, with 400; list the names by which clients reach the proxies",
  },
];

/** Returns warnings for settings that are valid but have no useful effect in combination. */
export function settingWarnings(settings: Settings): SettingFault[] {
  return rules
    .filter(({ applies }) => applies(settings))
    .map(({ setting, message }) => ({ origin: null, setting, message: message(settings) }));
}
