import { describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { hash, SpeechLibrary } from "../support/models.ts";

describe("the speech model in use", () => {
  test("is the built-in one until another is chosen, which applies at once in other processes too", async () => {
    using place = new SpeechLibrary();
    const [speech, other] = [place.speech(), place.speech()];
    expect(speech.current()).toEqual({ id: "whisper-base", path: place.builtInPath });
    const [mine] = await place.import(place.file("mine.bin", "mine"));
    speech.choose("mine", 1, place.store);
    expect(other.current()).toEqual({ id: "mine", path: mine?.path ?? "" });
    speech.choose("whisper-base", 2, place.store);
    expect(other.current().id).toBe("whisper-base");
  });

  test("is the built-in one when the chosen one is no longer installed, but stays the chosen one", async () => {
    using place = new SpeechLibrary();
    const speech = place.speech();
    const [mine] = await place.import(place.file("mine.bin", "mine"));
    speech.choose("mine", 1, place.store);
    rmSync(mine?.path ?? "");
    expect([speech.current().id, speech.chosen()]).toEqual(["whisper-base", "mine"]);
  });

  test("is never a path from the database, and no path can be removed as a model", async () => {
    using place = new SpeechLibrary();
    const speech = place.speech();
    for (const path of [place.file("elsewhere.bin", "elsewhere"), "../../x", "a/b"]) {
      speech.choose(path, 1, place.store);
      expect([speech.current().id, speech.chosen()]).toEqual(["whisper-base", null]);
      await expect(place.library.remove(path)).rejects.toThrow("is not a valid model id");
    }
  });

  test("is the one in the settings, by its id or its path", async () => {
    using place = new SpeechLibrary();
    const byId = place.speech({ setting: "mine" });
    await place.import(place.file("mine.bin", "mine"));
    byId.choose("whisper-base", 1, place.store);
    expect(byId.current().id).toBe("mine");
    const path = place.file("elsewhere.bin", "elsewhere");
    expect(place.speech({ setting: path }).current()).toEqual({ id: path, path });
  });

  test("is found only by its id or an absolute path", async () => {
    using place = new SpeechLibrary();
    const speech = place.speech();
    await place.import(place.file("mine.bin", "mine"));
    expect(["..", "../installed/mine", "mine/", "", "MINE", "/no/such.bin"].map((id) => speech.find(id))).toEqual(
      Array(6).fill(null),
    );
  });

  test("has the digest of its file, also after the file changed", async () => {
    using place = new SpeechLibrary();
    const speech = place.speech();
    const model = speech.current();
    expect(await speech.sha256Of(model)).toBe(hash("sha256", "base"));
    await Bun.write(place.builtInPath, "another");
    expect(await speech.sha256Of(model)).toBe(hash("sha256", "another"));
  });
});

test("a built-in model that is not the file of releases is reported once", async () => {
  using place = new SpeechLibrary();
  const reports: [string, string][] = [];
  const speech = place.speech({ onForeignWeights: (id, sha256) => reports.push([id, sha256]) });
  for (let count = 0; count < 2; count++) await speech.sha256Of(speech.current());
  expect(reports).toEqual([["whisper-base", hash("sha256", "base")]]);
});
