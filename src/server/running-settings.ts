import { type ReloadedSettings, reloadSettings, type Settings, SettingsError } from "../config/index.ts";
import { type HostNames, parseHostNames, parseTrustedProxies, type TrustedProxies } from "../http/index.ts";
import { type AllowList, parseAllowList } from "../media/index.ts";
import { settingFaults } from "./setting-faults.ts";

/** What settings say in texts of their own, understood. */
interface Understood {
  readonly allow: AllowList;
  readonly proxies: TrustedProxies;
  readonly hosts: HostNames;
}

/** The settings that a server runs with at present. Who needs one asks for it each time, so that a reload counts at once. */
export class RunningSettings {
  #values: Settings;
  #understood: Understood;

  /** @throws {SettingsError} for a text that says nothing, e.g. a network that is none */
  constructor(values: Settings) {
    this.#values = values;
    this.#understood = understand(values);
  }

  get values(): Settings {
    return this.#values;
  }

  /** Where links may lead to although it is not public. */
  get allow(): AllowList {
    return this.#understood.allow;
  }

  /** Who is believed when it says for whom it asks. */
  get proxies(): TrustedProxies {
    return this.#understood.proxies;
  }

  /** Names that requests may be sent to. */
  get hosts(): HostNames {
    return this.#understood.hosts;
  }

  /** Takes over what a running server can take over. @throws {SettingsError} and leaves all as it was */
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
