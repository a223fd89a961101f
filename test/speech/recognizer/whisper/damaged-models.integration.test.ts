import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { validateModelFile } from "../../../../src/speech/index.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";
import { loadNatively } from "../load-natively.ts";
import { mutate, randomFrom } from "./model-file/mutate-model.ts";
import { smallWhisper } from "./model-file/small-models.ts";
import { canTranscribe } from "./support.ts";

// Seconds on a quiet machine, more on a busy one.
setDefaultTimeout(180_000);

const model = smallWhisper();

describe.skipIf(!canTranscribe("damaged models"))("the native loader", () => {
  test("refuses altered models that the program's own check refuses, and never crashes", async () => {
    using directory = temporaryDirectory();
    const random = randomFrom(19);
    const path = join(directory.path, "model.bin");
    const accepted: boolean[] = [];
    const files = Array.from({ length: 120 }, () => () => {
      writeFileSync(path, mutate(model, random));
      accepted.push(isAccepted(path));
      return path;
    });
    const answers = await loadNatively("whisper", files);
    expect(answers).toHaveLength(files.length);
    const count = (answer: string) => answers.filter((each) => each === answer).length;
    expect(count("refused")).toBeGreaterThan(80);
    // The check may be the stricter one, never the other way round.
    expect(answers.filter((answer, index) => accepted[index] === true && answer === "refused")).toEqual([]);
  });

  test("loads the unaltered model", async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "model.bin");
    writeFileSync(path, model.bytes);
    expect(await loadNatively("whisper", [() => path])).toEqual(["loaded"]);
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
