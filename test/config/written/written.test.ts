import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { exampleFile, loadSettings, settingEntries, settingsPage } from "../../../src/config/index.ts";
import { root } from "../../support/checkout.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const defaults = loadSettings({ file: undefined, environment: {}, flags: {} });

async function load(toml: string) {
  using directory = temporaryDirectory();
  const file = join(directory.path, "transcribe.toml");
  await Bun.write(file, toml);
  return loadSettings({ file, environment: {}, flags: {} });
}

describe("what is written from the settings", () => {
  test.each([
    ["docs/settings.md", settingsPage()],
    ["docs/transcribe.example.toml", exampleFile()],
  ])("%s is what scripts/docs makes of the schema", async (path, text) => {
    expect(await Bun.file(join(root, path)).text()).toBe(text);
  });

  test("the example changes nothing as it is, and gives exactly the defaults with every # taken away", async () => {
    const example = exampleFile();
    expect(await load(example)).toEqual(defaults);
    const uncommented = example.replaceAll(/^#(?=\w)/gm, "");
    expect(uncommented.match(/^\w+ = /gm)).toHaveLength(settingEntries.length);
    const settings = await load(uncommented);
    // A relative path counts from the file's folder there.
    expect(settings.storage.data_dir).toEndWith("/data");
    expect({ ...settings, storage: { ...settings.storage, data_dir: "data" } }).toEqual(defaults);
  });

  test("both name every setting, its variable, its flag and what needs a restart", () => {
    for (const text of [exampleFile(), settingsPage()]) {
      for (const { path, env, flag } of settingEntries) {
        expect(text).toContain(path.split(".")[1] ?? "");
        expect(text).toContain(env);
        expect(text).toContain(flag ?? "");
      }
    }
    const restarts = settingEntries.filter(({ reload }) => !reload).length;
    expect(settingsPage().match(/\| restart \|$/gm)).toHaveLength(restarts);
    expect(
      exampleFile()
        .replaceAll("\n# ", " ")
        .match(/A new value needs a restart\./g),
    ).toHaveLength(restarts);
  });

  test("no line of the example is too wide for a terminal", () => {
    expect(
      exampleFile()
        .split("\n")
        .filter((line) => line.length > 100),
    ).toEqual([]);
  });
});
