import { type CpuChoice, chooseCpuLibrary } from "./choose-cpu-library.ts";
import type { CpuTestOptions } from "./cpu-self-test.ts";

/**
 * Chooses the best variant of the CPU backend that passes its self-test with every model. A worker that serves several
 * models uses one variant for all of them.
 * @param speechModels paths of at least one model
 * @throws {NoCpuLibraryError} if no variant works
 */
export async function chooseCpuLibraryFor(
  options: Omit<CpuTestOptions, "speechModel">,
  speechModels: readonly string[],
): Promise<CpuChoice> {
  const without: { library: string; reason: string }[] = [];
  for (;;) {
    const choices: CpuChoice[] = [];
    const excluded = without.map(({ library }) => library);
    for (const speechModel of speechModels) {
      choices.push(await chooseCpuLibrary({ ...options, speechModel }, excluded));
    }
    const [first, ...others] = choices;
    if (first === undefined) throw new RangeError("there is no model to choose a CPU variant for");
    const leftOut = choices.flatMap((choice) => choice.leftOut);
    const failing = leftOut.find(({ library }) => choices.some((choice) => choice.cpuLibrary === library));
    if (failing === undefined || others.length === 0) {
      const reasons = new Map([...leftOut, ...without].map((each) => [each.library, each]));
      return { cpuLibrary: first.cpuLibrary, leftOut: [...reasons.values()] };
    }
    // This variant is the best for one model and fails with another.
    without.push(failing);
  }
}
