import { allVariants } from "../../native/steps/cpu-variants.ts";
import { oneOf } from "./options.ts";

/** Name for the fastest variant that works. */
export const FASTEST_CPU_VARIANT = "auto";

/** Option of commands that measure servers: the only variant of the CPU backend that they may use. */
export const cpuOption = oneOf(
  "VARIANT",
  "limit our program to one CPU variant (engine.cpu_variant), and with haswell also faster-whisper to AVX2",
  { names: [FASTEST_CPU_VARIANT, ...allVariants(process.arch)], fallback: FASTEST_CPU_VARIANT },
);

/** Returns the terms of a measurement that name the variant; none for the fastest. */
export function cpuTerms(cpu: string): string[] {
  return cpu === FASTEST_CPU_VARIANT ? [] : [`CPU variant ${cpu}`];
}

/**
 * Returns the variables that limit faster-whisper like our program: its own kernels (CTranslate2), oneDNN and MKL. Without
 * them it would compute with AVX-512 next to our AVX2.
 */
export function fasterWhisperSettings(cpu: string): Readonly<Record<string, string>> {
  if (cpu !== "haswell") return {};
  return { CT2_FORCE_CPU_ISA: "AVX2", ONEDNN_MAX_CPU_ISA: "AVX2", MKL_ENABLE_INSTRUCTIONS: "AVX2" };
}
