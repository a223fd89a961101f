import { type Check, type Finding, ok, problem, warning } from "../check.ts";
import { cpuSurvey } from "../survey.ts";

export const cpuVariant: Check = {
  id: "cpu.variant",
  title: "CPU variant",
  explanation:
    "The program carries the speech recognition compiled for several kinds of processors. The fastest that fits is tried in a process of its own with half a second of real work before the server uses it; one that crashes is left out, and the next best is used. `--all` tries every one that fits.",
  heavy: true,
  async run(context): Promise<Finding> {
    const { used, variants } = await cpuSurvey(context);
    const fitting = variants.filter(({ score, leftOut, test }) => score > 0 || leftOut !== null || test !== null);
    const usedSeconds = secondsOf(variants.find(({ library }) => library === used)?.test ?? null);
    const detail = fitting.map(({ library, leftOut, test }) => {
      const parts = [
        ...(library === used ? ["in use"] : []),
        ...(leftOut === null ? [] : [`left out by the server: ${leftOut}`]),
        ...(test === null ? [] : [test.ok ? `the test took ${test.seconds.toFixed(2)} s` : test.reason]),
      ];
      return `${nameOf(library)}: ${parts.join("; ") || "would work too, and is slower"}`;
    });
    if (used === null) {
      return problem("no variant of the CPU backend works here, so nothing can be transcribed", {
        detail,
        advice:
          "If each one crashes, memory or the processor may be faulty. If none can be opened, the program's files are damaged: run `transcribe doctor --fix`, or scripts/setup in a checkout.",
      });
    }
    const better = fitting.slice(
      0,
      fitting.findIndex(({ library }) => library === used),
    );
    if (better.length === 0) return ok(`${nameOf(used)}, the fastest for this CPU`, ...detail);
    const slower = better.flatMap(({ test }) => secondsOf(test) ?? []);
    const cost =
      usedSeconds === null || slower.length === 0
        ? "it may be slower than this CPU can be"
        : `it takes ${(usedSeconds / Math.min(...slower)).toFixed(1)} times as long`;
    return warning(
      `${nameOf(used)} is used, since ${better.map(({ library }) => nameOf(library)).join(", ")} failed; ${cost}`,
      {
        detail,
        advice:
          "The server works. If the reason was passing (a memory fault, an old kernel), stop the server, remove state/devices.json from the data directory, and start it: it tries them all again.",
      },
    );
  },
};

function secondsOf(test: { ok: true; seconds: number } | { ok: false } | null): number | null {
  return test?.ok === true ? test.seconds : null;
}

/** Returns the short name of a library: libggml-cpu-zen4.so → zen4. */
function nameOf(library: string): string {
  return library.replace(/^libggml-cpu-(.+)\.so$/, "$1");
}
