import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../../../harness/temporary-directory.ts";
import { loadGgml } from "../../../../src/runtimes/index.ts";
import { openModel } from "../../../../src/speech/recognizer/whisper/index.ts";
import { basePath, nativeDirectory, readSamples } from "../../../support/whisper.ts";

/**
 * A process that transcribes with a model whose file is removed after loading. Prints by how many MiB its memory grows with
 * the model, with a greedy text and with a beam, and then the texts.
 */
const runtime = loadGgml({ nativeDirectory });
const samples = await readSamples("formats/jfk.flac");
using directory = temporaryDirectory();
const path = join(directory.path, "model.bin");
symlinkSync(basePath, path);

const sizes = [process.memoryUsage.rss()];
const model = openModel(runtime, path, false);
sizes.push(process.memoryUsage.rss());
rmSync(path);

const state = model.createState();
const texts: string[] = [];
for (const beamSize of [1, 5]) {
  const { segments } = await state.transcribe(samples, {
    language: "en",
    threads: 2,
    beamSize,
    temperatureIncrement: 0,
  });
  texts.push(segments.map((segment) => segment.text.trim()).join(" "));
  sizes.push(process.memoryUsage.rss());
}
const growth = sizes.slice(1).map((size, at) => Math.round((size - (sizes[at] ?? 0)) / 2 ** 20));
console.log(growth.join(" "));
for (const text of texts) console.log(text);
state.dispose();
model.dispose();
