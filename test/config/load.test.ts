import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type LoadSettingsOptions, loadSettings, SettingsError, settingEntries } from "../../src/config/index.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const nothing: LoadSettingsOptions = { file: undefined, environment: {}, flags: {} };

describe("settings", () => {
  test("listen on loopback and process five recordings at once by default", () => {
    const settings = loadSettings(nothing);
    expect(settings.server.host).toBe("127.0.0.1");
    expect(settings.queue.slots).toBe(5);
    expect(settings.limits.upload_bytes).toBe(512 * 1024 * 1024);
  });

  test("take the file over the default, the environment over the file, a flag over both", async () => {
    using directory = temporaryDirectory();
    const file = join(directory.path, "transcribe.toml");
    await Bun.write(file, '[server]\nport = 1001\nhost = "::1"\n\n[queue]\nslots = 2\n');
    const environment = { TRANSCRIBE_PORT: "1002", TRANSCRIBE_QUEUE_SLOTS: "3" };
    const settings = loadSettings({ file, environment, flags: { "server.port": "1003" } });
    expect(settings.server).toMatchObject({ host: "::1", port: 1003 });
    expect(settings.queue.slots).toBe(3);
  });

  const refused: [string, Partial<LoadSettingsOptions> & { toml?: string }, string][] = [
    ["an unknown key of the file, with a suggestion", { toml: "[server]\nslots = 3" }, "did you mean queue.slots?"],
    ["a wrong type", { toml: '[server]\nport = "http"' }, "a whole number from 0 to 65535"],
    ["a file that is no TOML, with the place", { toml: "[server\n" }, "1:  [server"],
    ["a missing file", { file: "/nowhere/transcribe.toml" }, "can't read the settings file"],
    ["an unknown environment variable", { environment: { TRANSCRIBE_PROT: "1" } }, "TRANSCRIBE_PROT"],
    ["a number out of range", { environment: { TRANSCRIBE_PORT: "70000" } }, "TRANSCRIBE_PORT: 70000"],
    ["an empty number", { environment: { TRANSCRIBE_PORT: "" } }, "TRANSCRIBE_PORT"],
    ["a bad flag", { flags: { "server.port": "-1" } }, "--port: -1"],
    [
      "a word that is none of the choices",
      { flags: { "log.level": "loud" } },
      "one of debug, info, warn, error, silent",
    ],
  ];
  test.each(refused)("refuse %s", async (_name, { toml, ...options }, message) => {
    using directory = temporaryDirectory();
    const file = join(directory.path, "transcribe.toml");
    if (toml !== undefined) await Bun.write(file, toml);
    const load = () => loadSettings({ ...nothing, ...(toml === undefined ? {} : { file }), ...options });
    expect(load).toThrow(SettingsError);
    expect(load).toThrow(message);
  });

  test("every one has a description and a name of its own in the environment", () => {
    expect(settingEntries.filter((entry) => entry.description === "")).toEqual([]);
    expect(new Set(settingEntries.map((entry) => entry.env)).size).toBe(settingEntries.length);
  });
});
