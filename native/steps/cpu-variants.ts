import { readFileSync } from "node:fs";

/** A variant of ggml's CPU backend: its name in ggml's build, and the processor's flags that it needs. */
interface CpuVariant {
  readonly name: string;
  /** Flags of /proc/cpuinfo in addition to those of the variants in `extends`. */
  readonly flags: readonly string[];
  readonly extends?: string;
}

/**
 * The variants of each architecture, the slowest first. The first one runs on every processor. Each entry makes a
 * difference on some processor in use; the ones between them gain little and cost half a minute of build time each. The
 * newest of arm64 (SME) need a newer compiler than GCC 12.
 */
const VARIANTS: Readonly<Record<string, readonly CpuVariant[]>> = {
  x64: [
    { name: "x64", flags: [] },
    { name: "sse42", flags: ["sse4_2"] },
    { name: "haswell", flags: ["avx", "f16c", "avx2", "bmi2", "fma"], extends: "sse42" },
    { name: "alderlake", flags: ["avx_vnni"], extends: "haswell" },
    {
      name: "skylakex",
      flags: ["avx512f", "avx512cd", "avx512vl", "avx512dq", "avx512bw"],
      extends: "haswell",
    },
    { name: "icelake", flags: ["avx512vbmi", "avx512_vnni"], extends: "skylakex" },
    { name: "zen4", flags: ["avx512_bf16"], extends: "icelake" },
    { name: "sapphirerapids", flags: ["amx_int8"], extends: "zen4" },
  ],
  arm64: [
    { name: "armv8.0_1", flags: [] },
    { name: "armv8.2_1", flags: ["asimddp"] },
    { name: "armv8.2_2", flags: ["asimdhp"], extends: "armv8.2_1" },
    { name: "armv8.2_3", flags: ["sve"], extends: "armv8.2_2" },
    { name: "armv8.6_1", flags: ["i8mm"], extends: "armv8.2_3" },
    { name: "armv8.6_2", flags: ["sve2"], extends: "armv8.6_1" },
  ],
};

/** Returns all variants of an architecture, the slowest first. */
export function allVariants(architecture: string): string[] {
  return (VARIANTS[architecture] ?? []).map(({ name }) => name);
}

/**
 * Returns the variants that this machine needs: the one for every processor, and the fastest that the processor
 * supports.
 * @param cpuinfo the content of /proc/cpuinfo
 */
export function variantsHere(architecture: string, cpuinfo = readFileSync("/proc/cpuinfo", "utf8")): string[] {
  const known = VARIANTS[architecture] ?? [];
  const present = new Set(/^(?:flags|Features)\s*:(.*)$/m.exec(cpuinfo)?.[1]?.trim().split(/\s+/));
  const isSupported = (variant: CpuVariant): boolean => {
    const lower = known.find(({ name }) => name === variant.extends);
    return variant.flags.every((flag) => present.has(flag)) && (lower === undefined || isSupported(lower));
  };
  const supported = known.filter(isSupported).map(({ name }) => name);
  return [...new Set([...supported.slice(0, 1), ...supported.slice(-1)])];
}
