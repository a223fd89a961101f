import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { root } from "../../harness/checkout.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { exampleFile, loadSettings, settingEntries, settingsPage } from "../../src/config/index.ts";

const defaults = loadSettings({ file: undefined, environment: {}, flags: {} });

async function load(toml: string) {
  using directory = temporaryDirectory();
  const file = join(directory.path, "transcribe.toml");
  await Bun.write(file, toml);
  return loadSettings({ file, environment: {}, flags: {} });
}

describe("the generated texts", () => {
  test.each([
    ["docs/settings.md", settingsPage()],
    ["docs/transcribe.example.toml", exampleFile()],
  ])("%s equals the text that scripts/docs generates from the schema", async (path, text) => {
    expect(await Bun.file(join(root, path)).text()).toBe(text);
  });

  test("the example file has no effect as it is, and sets exactly the defaults when every # is removed", async () => {
    const example = exampleFile();
    expect(await load(example)).toEqual(defaults);
    const uncommented = example.replaceAll(/^#(?=\w)/gm, "");
    expect(uncommented.match(/^\w+ = /gm)).toHaveLength(settingEntries.length);
    const settings = await load(uncommented);
    // A relative path in a file is relative to the file's folder.
    expect(settings.storage.data_dir).toEndWith("/data");
    expect({ ...settings, storage: { ...settings.storage, data_dir: "data" } }).toEqual(defaults);
  });

  test("the example file and the page name every setting, its variable, its flag and whether it needs a restart", () => {
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

  test("the example file has no line of more than 100 characters", () => {
    expect(
      exampleFile()
        .split("\n")
        .filter((line) => line.length > 100),
    ).toEqual([]);
  });
});
