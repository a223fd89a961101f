import { type AllowList, type Networks, parseAllowList, parseNetworks } from "../addresses/index.ts";
import {
  type ReloadedSettings,
  readSecretFile,
  reloadSettings,
  type SettingFault,
  type Settings,
  SettingsError,
  withoutPassword,
} from "../config/index.ts";
import { checkIssuer, readClientSecret } from "../console/index.ts";
import { parseHostNames, parseOrigins } from "../http/index.ts";
import { parseLanguageRoutes } from "../models/index.ts";
import { SyslogTargetError, syslogTarget } from "../syslog/index.ts";
import { messageOf } from "../text/index.ts";
import { parseSignInRules } from "../users/index.ts";
import { parseListenAddress } from "../wyoming/index.ts";

/** The settings that have a text format of their own, in parsed form. */
interface ParsedSettings {
  /** Non-public addresses that links may point to. */
  readonly allow: AllowList;
  /** Non-public addresses that webhooks may have. */
  readonly webhooksAllow: AllowList;
  /** Proxies that are trusted to report the client on whose behalf they send a request. */
  readonly proxies: Networks;
  /** Host names that requests may be sent to. */
  readonly hosts: ReadonlySet<string>;
  /** Networks whose requests to the API of whisper-asr-webservice need no key. */
  readonly asrNetworks: Networks;
  /** Networks whose Wyoming clients may connect. */
  readonly wyomingNetworks: Networks;
  /** Origins of pages that may call OpenAI's audio API. */
  readonly origins: ReturnType<typeof parseOrigins>;
  /** Token with which other machines may read the metrics; null for none. */
  readonly metricsToken: string | null;
}

/**
 * The current settings of a server. Callers read a setting each time they need it, so a reload takes effect at once.
 */
export class RunningSettings {
  #values: Settings;
  #parsed: ParsedSettings;

  /** @throws {SettingsError} for a text that cannot be parsed, such as an invalid network */
  constructor(values: Settings) {
    this.#values = values;
    this.#parsed = parseSettings(values);
  }

  get values(): Settings {
    return this.#values;
  }

  get parsed(): ParsedSettings {
    return this.#parsed;
  }

  /**
   * Applies the settings that a running server can change.
   * @throws {SettingsError} and changes nothing
   */
  reload(next: Settings): ReloadedSettings {
    const reloaded = reloadSettings(this.#values, next);
    this.#parsed = parseSettings(reloaded.settings);
    this.#values = reloaded.settings;
    return reloaded;
  }
}

function parseSettings(settings: Settings): ParsedSettings {
  const faults = settingFaults(settings);
  if (faults.length > 0) throw new SettingsError(faults);
  return {
    allow: parseAllowList(settings.fetch.allow),
    webhooksAllow: parseAllowList(settings.webhooks.allow),
    proxies: parseNetworks(settings.server.trusted_proxies),
    hosts: parseHostNames(settings.server.hosts).add(settings.server.host.toLowerCase()),
    asrNetworks: parseNetworks(settings.compat.asr_networks),
    wyomingNetworks: parseNetworks(settings.live.wyoming_networks),
    origins: parseOrigins(settings.server.origins),
    metricsToken: readMetricsToken(settings.metrics.token_file),
  };
}

/** Minimum length of the token, which nobody may guess. */
const MIN_TOKEN_CHARACTERS = 16;

/** @throws {Error} that names the fault of the token's file */
function readMetricsToken(file: string): string | null {
  const token = readSecretFile(file, "the token");
  if (token === null || token.length >= MIN_TOKEN_CHARACTERS) return token;
  throw new Error(`${file} must contain a token of at least ${MIN_TOKEN_CHARACTERS} characters`);
}

const unpairedTls = "set both server.tls_certificate and server.tls_key, or none of them for plain HTTP";

/** Returns the faults of settings that are valid by type: a text that cannot be parsed, or a missing counterpart. */
export function settingFaults({
  audit,
  compat,
  engine,
  fetch,
  fleet,
  live,
  metrics,
  oidc,
  server,
  standby,
  webhooks,
}: Settings): SettingFault[] {
  const oneOfPair = (server.tls_certificate === "") !== (server.tls_key === "");
  return [
    ...faultOf("fetch.allow", () => parseAllowList(fetch.allow)),
    ...faultOf("webhooks.allow", () => parseAllowList(webhooks.allow)),
    ...faultOf("server.trusted_proxies", () => parseNetworks(server.trusted_proxies)),
    ...faultOf("compat.asr_networks", () => parseNetworks(compat.asr_networks)),
    ...(live.wyoming === "" ? [] : faultOf("live.wyoming", () => parseListenAddress(live.wyoming))),
    ...(live.wyoming !== "" && live.wyoming_account === ""
      ? [fault("live.wyoming", "set live.wyoming_account, too")]
      : []),
    ...faultOf("live.wyoming_networks", () => parseNetworks(live.wyoming_networks)),
    ...faultOf("server.origins", () => parseOrigins(server.origins)),
    ...syslogFaults(audit),
    ...((standby.follow || standby.rejoin) && standby.from === ""
      ? [fault(standby.follow ? "standby.follow" : "standby.rejoin", "set standby.from, too")]
      : []),
    ...(standby.fence === "broker" && fleet.broker === "" ? [fault("standby.fence", "set fleet.broker, too")] : []),
    ...faultOf("metrics.token_file", () => readMetricsToken(metrics.token_file)),
    ...faultOf("server.hosts", () => parseHostNames(server.hosts)),
    ...faultOf("engine.recognizers", () => parseLanguageRoutes(engine.recognizers)),
    ...faultOf("oidc.rules", () => parseSignInRules(oidc.rules)),
    ...faultOf("oidc.issuer", () => checkIssuer(oidc.issuer)),
    ...(oidc.issuer !== "" && oidc.client_id === "" ? [fault("oidc.issuer", "set oidc.client_id, too")] : []),
    ...faultOf("oidc.client_secret_file", () => readClientSecret(oidc.client_secret_file)),
    ...(oneOfPair ? [fault(server.tls_key === "" ? "server.tls_certificate" : "server.tls_key", unpairedTls)] : []),
  ];
}

function syslogFaults(audit: Settings["audit"]): SettingFault[] {
  if (audit.syslog === "") return [];
  try {
    syslogTarget(audit);
    return [];
  } catch (error) {
    if (!(error instanceof SyslogTargetError)) throw error;
    return [fault(`audit.${error.setting}`, error.message)];
  }
}

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
