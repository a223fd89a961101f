export { settingEntries, settingValue } from "./entries.ts";
export { exampleFile, tomlValue } from "./example-file.ts";
export { faultText, locate, originText, type SettingFault, SettingsError, withoutPassword } from "./fault.ts";
export { loadSettings, readSettings, runtimeDirectoryOf, type SettingsSources } from "./load.ts";
export { type ReloadedSettings, reloadSettings } from "./reload-settings.ts";
export type { Settings } from "./schema.ts";
export { chooseSettingsFile, defaultSettingsFile } from "./settings-file.ts";
export { settingsPage } from "./settings-page.ts";
export { settingWarnings } from "./warnings.ts";
