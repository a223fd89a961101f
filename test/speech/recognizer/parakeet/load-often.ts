import type { ParakeetAddon } from "../../../../src/speech/recognizer/parakeet/addon.ts";
import { openAddon } from "./support.ts";

/** A process that loads a damaged file many times and prints by how many bytes its memory grew. */
const [path = "", times = ""] = process.argv.slice(2);
const addon: ParakeetAddon = openAddon();
const load = () => {
  try {
    new addon.ParakeetModel(path, { useGpu: false }).dispose();
  } catch {
    return;
  }
  throw new Error("the damaged file was loaded");
};
// The first ones make the allocator's pools.
for (let i = 0; i < 5; i++) load();
const before = process.memoryUsage.rss();
for (let i = 0; i < Number(times); i++) load();
console.log(process.memoryUsage.rss() - before);
