import { type Check, ok, problem, skipped, warning } from "../check.ts";

/** CPU features for which the CPU backend has variants, by the flags in /proc/cpuinfo, fastest first. */
const features: readonly (readonly [string, RegExp])[] = [
  ["AMX", /\bamx_(tile|int8|bf16)\b/],
  ["AVX-512", /\bavx512f\b/],
  ["AVX-VNNI", /\bavx_vnni\b/],
  ["AVX2", /\bavx2\b/],
  ["SVE", /\bsve\b/],
  ["I8MM", /\bi8mm\b/],
  ["dot product", /\basimddp\b/],
  ["NEON", /\basimd\b/],
];

export const cpuFeatures: Check = {
  id: "cpu.features",
  title: "CPU",
  explanation:
    "The instructions that the processor offers. AVX2 is what makes transcription on an x86 CPU bearable; AVX-512 and AMX make it faster again. A virtual machine may hide them although the processor has them.",
  run({ machine }) {
    const text = machine.read("/proc/cpuinfo");
    if (text === null) return skipped("this system has no /proc/cpuinfo to read");
    const model = /^model name\s*:\s*(.*)$/m.exec(text)?.[1] ?? "a CPU without a name";
    const flags = /^(?:flags|Features)\s*:\s*(.*)$/m.exec(text)?.[1];
    if (flags === undefined) return skipped(`${model}: it does not say what it can do`);
    const found = features.filter(([, pattern]) => pattern.test(flags)).map(([name]) => name);
    const isX86 = /\bsse2\b/.test(flags);
    if (isX86 && !/\bsse4_2\b/.test(flags)) {
      return problem(`${model} has no SSE4.2: too old for this program`, {
        advice: "Move the service to another machine, or let the virtual machine pass the host's CPU on.",
      });
    }
    if (isX86 && !/\bavx2\b/.test(flags)) {
      return warning(`${model} has no AVX2: transcription takes many times longer`, {
        advice:
          "If this is a virtual machine, give it the host's CPU type (libvirt: host-passthrough, Proxmox: host). Else use a newer machine.",
      });
    }
    return ok(`${model} with ${found.join(", ") || "no instructions that speed it up"}`);
  },
};
