import { gpuLibraries, listDevices, tryGpuLibrary } from "../../engine/index.ts";
import { ownCommand } from "../../program/index.ts";
import { size } from "../../wording/index.ts";
import { type Check, ok, skipped, warning } from "../check.ts";
import { filesOf, whisperModelOf } from "../files-of.ts";
import { cpuSurvey } from "../survey.ts";

export const gpuInference: Check = {
  id: "gpu.inference",
  title: "Work on the GPU",
  explanation:
    "Each GPU backend of this build computes half a second of real work with the model in use, in a process of its own, so that a driver that crashes takes nothing with it.",
  heavy: true,
  async run(context) {
    const { nativeDirectory } = filesOf(context);
    const libraries = gpuLibraries(nativeDirectory);
    if (libraries.length === 0) return skipped("this build has no GPU backend");
    const { used } = await cpuSurvey(context);
    if (used === null) return skipped("no CPU variant works, and a GPU needs one beside it");
    const options = { command: ownCommand("__selftest"), signal: context.signal, nativeDirectory, cpuLibrary: used };
    const listed = await listDevices(options);
    const found = listed.ok ? listed.answer.devices.filter(({ kind }) => kind !== "cpu") : [];
    const detail = listed.ok
      ? found.map(
          (device) => `${device.backend}: ${device.description}, ${size(device.memoryFreeBytes)} of memory free`,
        )
      : [`looking for devices: ${listed.reason}`];
    if (listed.ok && found.length === 0) return skipped("the backends find no GPU");
    const working: string[] = [];
    for (const library of libraries) {
      const trial = await tryGpuLibrary({ ...options, whisperModel: whisperModelOf(context) }, library);
      detail.push(`${library}: ${trial.ok ? `the trial took ${trial.answer.toFixed(2)} s` : trial.reason}`);
      if (trial.ok) working.push(library);
    }
    if (working.length > 0) return ok(`${working.join(", ")} works`, ...detail);
    return warning("no GPU backend works, so the server may fail to load its models", {
      detail,
      advice: "Update the GPU's driver. Until then, keep the GPU from the service, and the CPU does the work.",
    });
  },
};
