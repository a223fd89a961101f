import { surveyCpuLibraries } from "../../speech/index.ts";
import type { CheckContext } from "./check.ts";
import { filesOf, speechModelOf } from "./files-of.ts";

type Survey = Awaited<ReturnType<typeof surveyCpuLibraries>>;

const surveys = new WeakMap<CheckContext, Promise<Survey>>();

/** Tests the variants of the CPU backend on this machine, once for all checks of a run. */
export function cpuSurvey(context: CheckContext): Promise<Survey> {
  const known = surveys.get(context);
  if (known !== undefined) return known;
  const survey = surveyCpuLibraries({
    nativeDirectory: filesOf(context).nativeDirectory,
    speechModel: speechModelOf(context),
    verdictsPath: context.paths.verdicts,
    all: context.all,
    signal: context.signal,
  });
  surveys.set(context, survey);
  return survey;
}
