import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { smallParakeet, tinyModel } from "../../../harness/parakeet/random-model.ts";
import { randomNumbers } from "../../../harness/random-numbers.ts";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { mutate } from "../../../harness/whisper/mutate-model.ts";
import { smallWhisper } from "../../../harness/whisper/small-models.ts";
import { parakeetFamily } from "../../../src/speech/recognizer/parakeet/index.ts";
import { whisperFamily } from "../../../src/speech/recognizer/whisper/index.ts";
import { loadNatively } from "./load-natively.ts";
import { hasAddon } from "./parakeet/support.ts";

// Seconds on a quiet machine, more on a busy one.
setDefaultTimeout(180_000);

/** Each family with a model in all its forms; the first one is altered that many times. */
const families = [
  { name: "whisper", family: whisperFamily, models: [smallWhisper()], seed: 19, files: 120, leastRefused: 80 },
  {
    name: "parakeet",
    family: parakeetFamily,
    models: [0, 1, 2007, 2008, 2002].map((weightForm) => smallParakeet({ ...tinyModel, weightForm })),
    ...{ seed: 23, files: 200, leastRefused: 120 },
  },
] as const;

describe.skipIf(!hasAddon("damaged models")).each(families)("the native loader of $name", (row) => {
  const { name, family, models, seed, leastRefused } = row;
  const isAccepted = (path: string) => {
    try {
      family.validateFile(path);
      return true;
    } catch {
      return false;
    }
  };

  test("refuses altered models that the program's own check refuses, and never crashes", async () => {
    using directory = temporaryDirectory();
    const random = randomNumbers(seed);
    const path = join(directory.path, "model.bin");
    const accepted: boolean[] = [];
    const files = Array.from({ length: row.files }, () => () => {
      writeFileSync(path, mutate(models[0], random));
      accepted.push(isAccepted(path));
      return path;
    });
    const answers = await loadNatively(name, files);
    expect(answers).toHaveLength(files.length);
    expect(answers.filter((answer) => answer === "refused").length).toBeGreaterThan(leastRefused);
    // The check may be the stricter one, never the other way round.
    expect(answers.filter((answer, index) => accepted[index] === true && answer === "refused")).toEqual([]);
  });

  test("loads the unaltered model in each form", async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "model.bin");
    const files = models.map(({ bytes }) => () => {
      writeFileSync(path, bytes);
      family.validateFile(path);
      return path;
    });
    expect(await loadNatively(name, files)).toEqual(files.map(() => "loaded"));
  });
});
