import type { ParakeetAddon } from "../../../../src/speech/recognizer/parakeet/addon.ts";
import { openAddon } from "./support.ts";

/** A process that encodes five windows of 20 s at once and prints by how many bytes its memory grew with the model. */
const [path = ""] = process.argv.slice(2);
const addon: ParakeetAddon = openAddon();
const samples = Float32Array.from({ length: 20 * 16_000 }, (_, i) => Math.sin(i * (1 + i / 1e6)) / 2);
Bun.gc(true);
const before = process.memoryUsage.rss();
const model = new addon.ParakeetModel(path, { useGpu: false });
const states = Array.from({ length: 5 }, () => new addon.ParakeetState(model));
await Promise.all(states.map((state) => state.encode(samples, 1)));
console.log(process.memoryUsage.rss() - before);
for (const state of states) state.dispose();
model.dispose();
