import { basename } from "node:path";
import { withSpeechSample } from "../../appliance/index.ts";
import { isGpuWithinReach, listDevices, tryGpuLibrary } from "../../engine/index.ts";
import { ownCommand } from "../../program/index.ts";
import { size } from "../../wording/index.ts";
import { type Check, ok, skipped, warning } from "../check.ts";
import { filesOf, gpuLibrariesOf, whisperModelOf } from "../files-of.ts";
import { cpuSurvey } from "../survey.ts";

export const gpuInference: Check = {
  id: "gpu.inference",
  title: "Work on the GPU",
  explanation:
    "Each GPU backend of this build transcribes ten seconds with the model in use, in a process of its own, so that a driver that crashes takes nothing with it. One is used that hears the same words as the CPU, and sooner; CUDA comes before Vulkan, and the setting engine.device may say otherwise.",
  heavy: true,
  async run(context) {
    const files = filesOf(context);
    const { nativeDirectory } = files;
    const libraries = gpuLibrariesOf(context);
    if (libraries.length === 0) return skipped("this build has no GPU backend");
    if (!isGpuWithinReach()) return skipped("no GPU can be reached here: /dev has none");
    const { used: cpuLibrary } = await cpuSurvey(context);
    if (cpuLibrary === null) return skipped("no CPU variant works, and a GPU needs one beside it");
    const options = { command: ownCommand("__selftest"), signal: context.signal, nativeDirectory, cpuLibrary };
    const listed = await listDevices(options);
    const found = listed.ok ? listed.answer.devices.filter(({ kind }) => kind !== "cpu") : [];
    const detail = listed.ok
      ? found.map(
          (device) => `${device.backend}: ${device.description}, ${size(device.memoryFreeBytes)} of memory free`,
        )
      : [`looking for devices: ${listed.reason}`];
    if (listed.ok && found.length === 0) return skipped("the backends find no GPU");
    const { device } = context.settings.engine;
    if (device === "cpu") return skipped("the setting engine.device says that the CPU does the work");
    const trials = {
      ...{ ...options, whisperModel: whisperModelOf(context), mustBeFaster: device === "auto" },
      withSample: <T>(use: (pcmPath: string) => Promise<T>) => withSpeechSample(files, use),
    };
    let used: string | null = null;
    for (const library of libraries.filter((name) => device === "auto" || basename(name) === `libggml-${device}.so`)) {
      const trial = await tryGpuLibrary(trials, library);
      detail.push(
        `${library}: ${trial.ok ? `${trial.seconds.toFixed(2)} s for what takes the CPU ${trial.cpuSeconds.toFixed(2)} s` : trial.reason}`,
      );
      if (trial.ok) used ??= library;
    }
    if (used !== null) return ok(`${used} is used`, ...detail);
    return warning("no GPU backend is of use here: the CPU does all the work", {
      detail,
      advice:
        'Update the GPU\'s driver. One that is no faster than this CPU is left out rightly; engine.device = "cpu" spares the trial.',
    });
  },
};
