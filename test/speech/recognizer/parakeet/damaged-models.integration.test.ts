import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { tinyModel as options } from "../../../../scripts/support/parakeet/random-model.ts";
import { validateModelFile } from "../../../../src/speech/recognizer/parakeet/model-file/index.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";
import { loadNatively } from "../load-natively.ts";
import { mutate, randomFrom } from "../whisper/model-file/mutate-model.ts";
import { smallParakeet } from "./small-parakeet.ts";
import { hasAddon } from "./support.ts";

// Seconds on a quiet machine, more on a busy one.
setDefaultTimeout(180_000);

const model = smallParakeet();

describe.skipIf(!hasAddon("damaged Parakeet models"))("the native loader of Parakeet", () => {
  test("refuses altered models that the program's own check refuses, and never crashes", async () => {
    using directory = temporaryDirectory();
    const random = randomFrom(23);
    const path = join(directory.path, "model.bin");
    const accepted: boolean[] = [];
    const files = Array.from({ length: 200 }, () => () => {
      writeFileSync(path, mutate(model, random));
      accepted.push(isAccepted(path));
      return path;
    });
    const answers = await loadNatively("parakeet", files);
    expect(answers).toHaveLength(files.length);
    const count = (answer: string) => answers.filter((each) => each === answer).length;
    expect(count("refused")).toBeGreaterThan(120);
    // The check may be the stricter one, never the other way round.
    expect(answers.filter((answer, index) => accepted[index] === true && answer === "refused")).toEqual([]);
  });

  test("loads the unaltered model in each form", async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "model.bin");
    const files = [0, 1, 2007, 2008, 2002].map((weightForm) => () => {
      writeFileSync(path, smallParakeet({ ...options, weightForm }).bytes);
      validateModelFile(path);
      return path;
    });
    expect(await loadNatively("parakeet", files)).toEqual(files.map(() => "loaded"));
  });
});

function isAccepted(path: string): boolean {
  try {
    validateModelFile(path);
    return true;
  } catch {
    return false;
  }
}
