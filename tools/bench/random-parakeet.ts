import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { largeModel, writeRandomModel } from "../../harness/parakeet/random-model.ts";
import { makeCacheEntry, removeCacheEntry } from "../../src/files/index.ts";
import { root } from "../shared/checkout.ts";

/** Forms of the weights, by the header's number for them. */
export const weightForms = { f32: 0, f16: 1, q8_0: 7, q5_0: 8, q4_0: 2 } as const;
export type WeightForm = keyof typeof weightForms;

/** The code that determines the model's bytes. */
const generator = [
  "harness/parakeet/random-model.ts",
  "harness/parakeet/random-parts.ts",
  "harness/parakeet/quantize.ts",
  "src/speech/recognizer/parakeet/model-file/expected-tensors.ts",
  "harness/random-numbers.ts",
];
const FOLDER = "random-parakeet";

/**
 * Returns the path of a model of the 0.6B shape with random weights. It is written once, in some minutes, and cached by
 * the code that writes it; models of earlier code are removed.
 */
export async function cachedLargeModel(
  form: WeightForm,
  { cacheRoot, report }: { readonly cacheRoot: string; readonly report: (text: string) => void },
): Promise<string> {
  const digest = createHash("sha256");
  for (const path of generator) digest.update(readFileSync(join(root, path)));
  const name = `${form}-${digest.digest("hex").slice(0, 16)}`;
  const path = join(cacheRoot, FOLDER, name, "model.bin");
  if (existsSync(path)) return path;
  report(`writing a random model in ${form}, which takes some minutes`);
  await makeCacheEntry(cacheRoot, join(FOLDER, name), async (directory) =>
    writeRandomModel(join(directory, "model.bin"), { ...largeModel, weightForm: weightForms[form] }),
  );
  const earlier = readdirSync(join(cacheRoot, FOLDER)).filter((one) => one.startsWith(`${form}-`) && one !== name);
  for (const one of earlier) await removeCacheEntry(cacheRoot, join(FOLDER, one));
  return path;
}
