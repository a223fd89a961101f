import { existsSync, readFileSync, rmSync } from "node:fs";
import { areVerdicts, cpuLimit, currentTunings, inSlots, sharesOf } from "../../../devices/index.ts";
import { cpuQuota } from "../../../machine/index.ts";
import { count, messageOf } from "../../../text/index.ts";
import { type Check, type Finding, ok, problem, skipped, warning } from "../check.ts";
import { cpuSurvey, kernelsInUse, speechModelOf } from "../context.ts";
import { controlGroupsOf, findGpus, threadsOf } from "../machine-facts.ts";

/** CPU features for which the CPU backend has variants, by the flags in /proc/cpuinfo, fastest first. */
const featurePatterns: readonly (readonly [string, RegExp])[] = [
  ["AMX", /\bamx_(tile|int8|bf16)\b/],
  ["AVX-512", /\bavx512f\b/],
  ["AVX-VNNI", /\bavx_vnni\b/],
  ["AVX2", /\bavx2\b/],
  ["SVE", /\bsve\b/],
  ["I8MM", /\bi8mm\b/],
  ["dot product", /\basimddp\b/],
  ["NEON", /\basimd\b/],
];

const features: Check = {
  id: "cpu.features",
  title: "CPU",
  explanation:
    "The instruction sets of the processor. On an x86 CPU, AVX2 is what makes transcription acceptably fast; AVX-512 and AMX make it faster still. A virtual machine may hide them although the processor has them.",
  run({ machine }) {
    const text = machine.read("/proc/cpuinfo");
    if (text === null) return skipped("this system has no /proc/cpuinfo");
    const model = /^model name\s*:\s*(.*)$/m.exec(text)?.[1] ?? "an unnamed CPU";
    const flags = /^(?:flags|Features)\s*:\s*(.*)$/m.exec(text)?.[1];
    if (flags === undefined) return skipped(`${model}: its features are unknown`);
    const found = featurePatterns.filter(([, pattern]) => pattern.test(flags)).map(([name]) => name);
    const isX86 = /\bsse2\b/.test(flags);
    if (isX86 && !/\bsse4_2\b/.test(flags)) {
      return problem(`${model} has no SSE4.2: too old for this program`, {
        advice: "Move the service to another machine, or let the virtual machine use the host's CPU type.",
      });
    }
    if (isX86 && !/\bavx2\b/.test(flags)) {
      return warning(`${model} has no AVX2: transcription takes many times longer`, {
        advice:
          "If this is a virtual machine, give it the host's CPU type (libvirt: host-passthrough, Proxmox: host). Otherwise use a newer machine.",
      });
    }
    return ok(`${model} with ${found.join(", ") || "no instructions that accelerate transcription"}`);
  },
};

const threads: Check = {
  id: "cpu.threads",
  title: "CPU threads",
  explanation:
    "The number of computing threads (`engine.threads`, by default one per processor that the container or service may use), compared with the processors and that share of them. More threads than processors wait for each other and slow everything down.",
  run(context) {
    const { settings } = context;
    const { processors } = context.machine;
    const threads = threadsOf(context);
    const usable = Math.min(processors, cpuQuota(controlGroupsOf(context)) ?? processors);
    const all = count(processors, "processor");
    if (threads > processors) {
      return warning(`${threads} threads on ${all}: they wait for each other`, {
        advice: "Set engine.threads to 0 for one per processor.",
      });
    }
    if (threads > Math.ceil(usable)) {
      return warning(`${threads} threads, but the container or service may use only ${usable.toFixed(1)} of ${all}`, {
        advice: "Set engine.threads to 0 for as many as that, or raise the limit (docker: --cpus, systemd: CPUQuota=).",
      });
    }
    if (settings.engine.threads > 0 && threads <= usable / 2) {
      return ok(`${threads} of ${all} by engine.threads; the rest is left to other programs`);
    }
    const share = usable < processors ? `${usable.toFixed(1)} of ${all} that the container or service may use` : all;
    return ok(`${count(threads, "thread")} on ${share}`);
  },
};

const variant: Check = {
  id: "cpu.variant",
  title: "CPU variant",
  explanation:
    "The program contains the speech recognition compiled for several kinds of processors. Before the server uses the fastest one that fits, a self-test runs it in a separate process with half a second of real work. A variant that crashes is excluded, and the next best is used. The setting engine.cpu_variant allows only one variant. `--all` tests every variant that fits.",
  heavy: true,
  async run(context): Promise<Finding> {
    const { used, variants } = await cpuSurvey(context);
    const fitting = variants.filter(({ score, leftOut, test }) => score > 0 || leftOut !== null || test !== null);
    const inUse = variants.find(({ library }) => library === used);
    const detail = fitting.map(({ library, name, isAllowed, leftOut, test }) => {
      const parts = [
        ...(library === used ? ["in use"] : []),
        ...(leftOut === null ? [] : [`excluded by the server: ${leftOut}`]),
        ...(test === null ? [] : [test.ok ? `the self-test took ${test.seconds.toFixed(2)} s` : test.reason]),
      ];
      return `${name}: ${parts.join("; ") || (isAllowed ? "fits too, but is slower" : "fits too")}`;
    });
    if (variants.some(({ isAllowed }) => !isAllowed)) {
      return limitedTo(context.settings.engine.cpu_variant, inUse, fitting, detail);
    }
    if (inUse === undefined) {
      return problem("no variant of the CPU backend works here, so nothing can be transcribed", {
        detail,
        advice:
          "If each one crashes, memory or the processor may be faulty. If none can be opened, the program's files are damaged: run `transcribe doctor --fix`, or scripts/setup in a checkout.",
      });
    }
    const better = fitting.slice(0, fitting.indexOf(inUse));
    if (better.length === 0) return ok(`${inUse.name}, the fastest for this CPU`, ...detail);
    const usedSeconds = secondsOf(inUse.test);
    const faster = better.flatMap(({ test }) => secondsOf(test) ?? []);
    const cost =
      usedSeconds === null || faster.length === 0
        ? "it may be slower than this CPU allows"
        : `it takes ${(usedSeconds / Math.min(...faster)).toFixed(1)} times as long`;
    const failed = better.map(({ name }) => name).join(", ");
    return warning(`${inUse.name} is used because ${failed} failed; ${cost}`, {
      detail,
      advice:
        "The server works. If the cause was temporary (a memory fault, an old kernel), stop the server, remove state/devices.json from the data directory, and start it: it tests all variants again.",
    });
  },
};

type Variants = Awaited<ReturnType<typeof cpuSurvey>>["variants"];

/** Returns the finding for a machine on which the setting allows one variant only. */
function limitedTo(
  setting: string,
  inUse: Variants[number] | undefined,
  fitting: Variants,
  detail: readonly string[],
): Finding {
  if (inUse === undefined) {
    const others = fitting.filter(({ score, isAllowed }) => score > 0 && !isAllowed).map(({ name }) => name);
    return problem(`engine.cpu_variant is ${setting}, which can't be used here, so nothing can be transcribed`, {
      detail,
      advice: `Set engine.cpu_variant to auto for the fastest variant, or to one that fits: ${others.join(", ")}.`,
    });
  }
  const best = fitting.find(({ leftOut, test }) => leftOut === null && test?.ok !== false);
  const faster = best === undefined || best === inUse ? "" : `; ${best.name} is faster`;
  return ok(`${inUse.name} by engine.cpu_variant${faster}`, ...detail);
}

const lanes: Check = {
  id: "engine.lanes",
  title: "Operations at once",
  explanation:
    "How many operations each GPU, or a CPU with more than four threads, runs at once. The server measures this in idle time, once for each device, driver, model and version; a recording ends the measurement at once. `transcribe bench --tune` measures now, and the setting engine.lanes overrides the result. On a GPU it also measures how many of them are decoded together; engine.decoder_slots overrides that. Next to a GPU, the CPU detects speech and distinguishes speakers; a GPU that is faster than that waits for it.",
  run(context) {
    const { settings, data, paths } = context;
    if (settings.engine.lanes > 0) return ok(`${settings.engine.lanes} by engine.lanes, which is not measured`);
    const threads = threadsOf(context);
    const tunings = data === "present" ? currentTunings(paths.verdicts, speechModelOf(context), threads) : [];
    const complete = tunings.filter(({ isComplete, measured }) => isComplete && measured.length > 0);
    if (complete.length === 0) {
      const hasGpu = settings.engine.device !== "cpu" && findGpus(context.machine).length > 0;
      if (!hasGpu && threads <= 4) return ok("one for each thread of this CPU, which needs no measurement");
      return skipped("not measured yet: a server does so after a minute without work");
    }
    const detail = complete.map((tuning) => {
      const { device, measured, failed, failedSlots, measuredAt } = tuning;
      const speeds = measured.map((each) => `${each.lanes}${inSlots(each)}: ${each.speed.toFixed(1)}`).join(", ");
      const failures = [
        ...(failed === undefined ? [] : [`; with ${failed.lanes} the worker failed: ${failed.reason}`]),
        ...(failedSlots === undefined
          ? []
          : [`; with ${failedSlots.slots ?? 1} decoded together the worker failed: ${failedSlots.reason}`]),
      ].join("");
      const day = new Date(measuredAt).toISOString().slice(0, 10);
      return `${device}, measured ${day}, times real time by operations at once: ${speeds}${failures}`;
    });
    const best = complete.map((tuning) => {
      const shares = sharesOf(tuning);
      return `${shares?.lanes ?? "?"}${shares === null ? "" : inSlots(shares)} on ${tuning.device}`;
    });
    const limit = cpuLimit(complete, threads);
    if (limit === null) return ok(best.join(", "), ...detail);
    return warning(`${best.join(", ")}; ${limit}`, {
      detail,
      advice: "The GPU waits at times. More CPU cores let it recognize faster, see docs/gpu.md.",
    });
  },
};

function secondsOf(test: { ok: true; seconds: number } | { ok: false } | null): number | null {
  return test?.ok === true ? test.seconds : null;
}

const verdicts: Check = {
  id: "cpu.verdicts",
  title: "Cached self-tests",
  explanation:
    "The results of the self-tests are cached in state/devices.json of the data directory, so that the next start of the server is immediate. A damaged file does no harm, but costs some seconds at each start.",
  run({ data, paths }) {
    if (data !== "present" || !existsSync(paths.verdicts)) return skipped("no results are cached yet");
    let text: string;
    try {
      text = readFileSync(paths.verdicts, "utf8");
    } catch (error) {
      return warning("the cached results of the self-tests can't be read", {
        detail: [messageOf(error)],
        advice: "Run this command as the user of the server.",
      });
    }
    if (areVerdicts(text)) return ok("cached for the next start");
    return warning("the cached results of the self-tests are damaged; each start repeats the self-tests", {
      advice: "`transcribe doctor --fix` removes the file; the next start writes a new one.",
      repair: { what: `Remove the damaged ${paths.verdicts}`, apply: () => rmSync(paths.verdicts) },
    });
  },
};

const kernels: Check = {
  id: "cpu.kernels",
  title: "CPU kernels",
  explanation:
    "The instructions with which this program computes on the CPU: it has kernels of its own for AVX2, AVX-VNNI, AVX-512 VNNI, and AVX-512 VNNI with BF16, from the slowest to the fastest. They follow the CPU variant, and so does the form of the speech model's encoder. Without them the kernels of ggml and ONNX Runtime compute. ONNX Runtime runs the speaker models and chooses its instructions by itself.",
  heavy: true,
  async run(context) {
    const kernels = await kernelsInUse(context);
    return kernels === null ? skipped("no variant of the CPU backend works") : ok(kernels.summary);
  },
};

export const cpuChecks = [features, threads, variant, lanes, verdicts, kernels];
