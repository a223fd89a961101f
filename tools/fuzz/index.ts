/**
 * `scripts/fuzz [--seeds 1,2,3] [--files 500]` mutates the headers, vocabularies and tensor tables of small models.
 * Loads each file with whisper.cpp's loader, patched by native/patches, under AddressSanitizer, in one process after
 * another. They also pass through the program's own check. A seed always creates the same files.
 *
 * Exits with 1 when the loader crashed, or refused a file that the check accepted. These files are then in build/fuzz.
 */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { smallParakeet, tinyModel } from "../../harness/parakeet/random-model.ts";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { mutate } from "../../harness/whisper/mutate-model.ts";
import { smallSizes, smallWhisper } from "../../harness/whisper/small-models.ts";
import { repository } from "../../native/build.ts";
import { validateModelFile } from "../../src/speech/index.ts";
import type { ModelSizes } from "../../src/speech/recognizer/whisper/model-file/index.ts";
import { defineCommand, runCommandLine } from "../shared/command.ts";
import { text, UsageError, whole } from "../shared/options.ts";
import { buildLoader, Loader } from "./loader.ts";

const findings = join(repository, "build", "fuzz");
// Thousands of files of a few megabytes are written, if possible in memory.
const path = join(process.platform === "linux" ? "/dev/shm" : tmpdir(), `transcribe-fuzz-${process.pid}.bin`);

/** Whisper models with several weight types, one for each seed: 16 bits, 5 bits, 6 bits of a K type, 8 bits. */
const whisperSizes: readonly Partial<ModelSizes>[] = [
  {},
  { weightForm: 2_009, vocabulary: 51_865, textLayers: 2 },
  { weightForm: 2_014, audioWidth: 256, textWidth: 256, audioHeads: 4, textHeads: 4, mels: 128, vocabulary: 51_866 },
  { weightForm: 2_007, audioLayers: 2 },
];
const whispers = whisperSizes.map((sizes) => smallWhisper({ ...smallSizes, ...sizes }));
/** Parakeet models of 32 and 16 bits, in 8 bits and in 5 bits. */
const parakeets = [0, 1, 2_007, 2_008].map((weightForm) => smallParakeet({ ...tinyModel, layers: 1, weightForm }));
const modelsOf = (seed: number) =>
  Object.entries({ whisper: whispers, parakeet: parakeets }).map(([kind, models]) => ({
    kind,
    model: models[seed % models.length] ?? smallWhisper(),
  }));
const command = defineCommand({
  name: "scripts/fuzz",
  about: "Loads mutated model files with whisper.cpp's loader, and compares the results with the program's own check.",
  options: {
    seeds: text("LIST", "seeds of the mutations, separated by commas", "1,2,3"),
    files: whole("number of files for each seed and kind of model", { fallback: 500 }),
  },
  async run({ seeds: list, files: filesPerSeed }) {
    const seeds = list.split(",").map(Number);
    if (!seeds.every(Number.isSafeInteger)) throw new UsageError(`--seeds are whole numbers, not ${list}`);
    await rm(findings, { recursive: true, force: true });
    await mkdir(findings, { recursive: true });
    const loader = new Loader(await buildLoader((line) => console.error(line)));
    let failures = 0;
    try {
      for (const { kind, model } of [0, 1, 2, 3].flatMap(modelsOf)) {
        await writeFile(path, model.bytes);
        const { answer, errors } = await loader.load(kind, path);
        if (answer !== "loaded") throw new Error(`the unchanged ${kind} model was ${answer}: ${errors}`);
      }
      for (const seed of seeds) {
        for (const { kind, model } of modelsOf(seed)) {
          const random = randomNumbers(seed);
          const counts = { loaded: 0, refused: 0, crashed: 0, disagreed: 0, stricter: 0 };
          for (let file = 0; file < filesPerSeed; file++) {
            await writeFile(path, mutate(model, random));
            const isAccepted = accepts();
            const { answer, errors } = await loader.load(kind, path);
            counts[answer]++;
            if (answer === "loaded" && !isAccepted) counts.stricter++;
            const isDisagreement = answer === "refused" && isAccepted;
            if (isDisagreement) counts.disagreed++;
            if (answer !== "crashed" && !isDisagreement) continue;
            const finding = join(findings, `${kind}-${seed}-${file}`);
            await Bun.write(`${finding}.bin`, Bun.file(path));
            await writeFile(`${finding}.txt`, errors);
            console.error(`${finding}.bin: ${answer}`);
          }
          failures += counts.crashed + counts.disagreed;
          console.log(JSON.stringify({ seed, kind, files: filesPerSeed, ...counts }));
        }
      }
    } finally {
      loader.end();
      await rm(path, { force: true });
    }
    process.exitCode = failures > 0 ? 1 : 0;
  },
});
await runCommandLine(command, process.argv.slice(2));

function accepts(): boolean {
  try {
    validateModelFile(path);
    return true;
  } catch {
    return false;
  }
}
