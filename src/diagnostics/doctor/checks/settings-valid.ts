import { type Check, ok, problem } from "../check.ts";

export const settingsValid: Check = {
  id: "settings.valid",
  title: "Settings",
  explanation:
    "The settings file, the environment and the flags are read as the server reads them. With an unknown key or a value that is out of its range the server does not start. While they can't be read, the other checks go by the defaults.",
  run({ settingsError, configFile }) {
    if (settingsError !== null) {
      return problem("the settings can't be used, so the server won't start", {
        detail: [settingsError],
        advice: "Mend it. `transcribe config check` shows every fault and what is allowed.",
      });
    }
    return ok(configFile === null ? "no settings file; defaults, environment and flags" : `read from ${configFile}`);
  },
};
