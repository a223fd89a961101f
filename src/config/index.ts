export { type SettingEntry, settingEntries } from "./entries.ts";
export { type LoadSettingsOptions, loadSettings, SettingsError } from "./load.ts";
export { type ReloadedSettings, reloadSettings } from "./reload-settings.ts";
export type { Settings } from "./schema/index.ts";
