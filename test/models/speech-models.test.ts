import { describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { importModels, parseLanguageRoutes, SpeechModels } from "../../src/models/index.ts";
import { openDatabase, type Store } from "../../src/storage/index.ts";
import { hash, TestLibrary } from "./support.ts";

function made(setting = "", store: Store = openDatabase(":memory:")) {
  const place = new TestLibrary();
  const builtInPath = place.file("base.bin", "base");
  const { library } = place;
  const add = (name: string, content: string) =>
    importModels(place.file(`${name}.bin`, content), {
      ...{ library, catalogue: [], name, inspect: () => {}, onProgress: () => {} },
    });
  const speech = new SpeechModels({ store, library, builtInPath, setting, routes: parseLanguageRoutes([]) });
  return { place, store, library, speech, add, builtInPath };
}

describe("the speech model in use", () => {
  test("is the built-in one until another is chosen, which applies at once in other processes too", async () => {
    const { place, speech, add, store, library, builtInPath } = made();
    using _place = place;
    const other = new SpeechModels({ store, library, builtInPath, setting: "", routes: parseLanguageRoutes([]) });
    expect(speech.current()).toEqual({ id: "whisper-base", path: builtInPath });
    const [mine] = await add("mine", "mine");
    speech.choose("mine", 1, store);
    expect(other.current()).toEqual({ id: "mine", path: mine?.path ?? "" });
    speech.choose("whisper-base", 2, store);
    expect(other.current().id).toBe("whisper-base");
  });

  test("is the built-in one when the chosen one is no longer installed, but stays the chosen one", async () => {
    const { place, speech, add, store } = made();
    using _place = place;
    const [mine] = await add("mine", "mine");
    speech.choose("mine", 1, store);
    rmSync(mine?.path ?? "");
    expect([speech.current().id, speech.chosen()]).toEqual(["whisper-base", "mine"]);
  });

  test("is never a path from the database, and no path can be removed as a model", async () => {
    const { place, speech, store, library } = made();
    using _place = place;
    for (const path of [place.file("elsewhere.bin", "elsewhere"), "../../x", "a/b"]) {
      speech.choose(path, 1, store);
      expect([speech.current().id, speech.chosen()]).toEqual(["whisper-base", null]);
      await expect(library.remove(path)).rejects.toThrow("is not a valid model id");
    }
  });

  test("is the one in the settings, by its id or its path", async () => {
    const store = openDatabase(":memory:");
    const byId = made("mine", store);
    using _place = byId.place;
    await byId.add("mine", "mine");
    byId.speech.choose("whisper-base", 1, store);
    expect(byId.speech.current().id).toBe("mine");
    const path = byId.place.file("elsewhere.bin", "elsewhere");
    const { library, builtInPath } = byId;
    expect(
      new SpeechModels({ store, library, builtInPath, routes: parseLanguageRoutes([]), setting: path }).current(),
    ).toEqual({ id: path, path });
  });

  test("is found only by its id or an absolute path", async () => {
    const { place, speech, add } = made();
    using _place = place;
    await add("mine", "mine");
    expect(["..", "../installed/mine", "mine/", "", "MINE", "/no/such.bin"].map((id) => speech.find(id))).toEqual(
      Array(6).fill(null),
    );
  });

  test("has the digest of its file, also after the file changed", async () => {
    const { place, speech, builtInPath } = made();
    using _place = place;
    const model = speech.current();
    expect(await speech.sha256Of(model)).toBe(hash("sha256", "base"));
    await Bun.write(builtInPath, "another");
    expect(await speech.sha256Of(model)).toBe(hash("sha256", "another"));
  });
});

test("a built-in model that is not the file of releases is reported once", async () => {
  using place = new TestLibrary();
  const builtInPath = place.file("base.bin", "base");
  const reports: [string, string][] = [];
  const speech = new SpeechModels({
    ...{ store: openDatabase(":memory:"), library: place.library, builtInPath, setting: "" },
    routes: parseLanguageRoutes([]),
    onForeignWeights: (id, sha256) => reports.push([id, sha256]),
  });
  for (let count = 0; count < 2; count++) await speech.sha256Of(speech.current());
  expect(reports).toEqual([["whisper-base", hash("sha256", "base")]]);
});
