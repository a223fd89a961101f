import { type ReloadedSettings, reloadSettings, type Settings, SettingsError } from "../config/index.ts";
import { parseHostNames, parseTrustedProxies } from "../http/index.ts";
import { type AllowList, parseAllowList } from "../media/index.ts";
import { settingFaults } from "./setting-faults.ts";

/** The settings that have a text format of their own, in parsed form. */
interface Understood {
  readonly allow: AllowList;
  readonly proxies: ReturnType<typeof parseTrustedProxies>;
  readonly hosts: ReadonlySet<string>;
}

/**
 * The current settings of a server. Callers read a setting each time they need it, so that a reload takes effect at
 * once.
 */
export class RunningSettings {
  #values: Settings;
  #understood: Understood;

  /** @throws {SettingsError} for a text that cannot be parsed, such as an invalid network */
  constructor(values: Settings) {
    this.#values = values;
    this.#understood = understand(values);
  }

  get values(): Settings {
    return this.#values;
  }

  /** Non-public addresses that links may point to. */
  get allow(): AllowList {
    return this.#understood.allow;
  }

  /** Proxies that are trusted to report the client on whose behalf they send a request. */
  get proxies(): ReturnType<typeof parseTrustedProxies> {
    return this.#understood.proxies;
  }

  /** Host names that requests may be sent to. */
  get hosts(): ReadonlySet<string> {
    return this.#understood.hosts;
  }

  /**
   * Applies the settings that a running server can change.
   * @throws {SettingsError} and changes nothing
   */
  reload(next: Settings): ReloadedSettings {
    const reloaded = reloadSettings(this.#values, next);
    this.#understood = understand(reloaded.settings);
    this.#values = reloaded.settings;
    return reloaded;
  }
}

function understand(settings: Settings): Understood {
  const faults = settingFaults(settings);
  if (faults.length > 0) throw new SettingsError(faults);
  return {
    allow: parseAllowList(settings.fetch.allow),
    proxies: parseTrustedProxies(settings.server.trusted_proxies),
    hosts: parseHostNames(settings.server.hosts).add(settings.server.host.toLowerCase()),
  };
}
