import { Type } from "@sinclair/typebox";

/**
 * The kinds of instructions that our own kernels are written for, by their names in native/src/kernels/lanes/instructions.cpp, the
 * slowest first.
 */
const kinds = ["none", "AVX2", "AVX-VNNI", "AVX-512 VNNI", "AVX-512 VNNI and BF16"] as const;

/** A kind of instructions; "none": ggml's own kernels compute. */
export type Instructions = (typeof kinds)[number];

export const instructionsSchema = Type.Union(kinds.map((kind) => Type.Literal(kind)));

/** Returns whether a kind is the same as another or a faster one. */
export function isAtLeast(instructions: Instructions, other: Instructions): boolean {
  return kinds.indexOf(instructions) >= kinds.indexOf(other);
}

/** The instructions of an x86 processor, as far as our kernels use them. */
interface CpuInstructions {
  /** The fastest kind that the processor has. */
  readonly fastest: Instructions;
  /** Instructions that the processor lacks for a faster kind; empty for the fastest. */
  readonly lacking: readonly string[];
}

/** A flag in /proc/cpuinfo with the kind that it allows, and what is missing for a faster one; the fastest first. */
const byFlag: readonly (readonly [flag: string, CpuInstructions])[] = [
  ["avx512_bf16", { fastest: "AVX-512 VNNI and BF16", lacking: [] }],
  ["avx512_vnni", { fastest: "AVX-512 VNNI", lacking: ["AVX-512 BF16"] }],
  ["avx_vnni", { fastest: "AVX-VNNI", lacking: ["AVX-512 VNNI"] }],
  ["avx2", { fastest: "AVX2", lacking: ["AVX-512 VNNI", "AVX-VNNI"] }],
];

/** Returns the instructions of an x86 processor. @param flags the processor's flags in /proc/cpuinfo */
export function instructionsOfCpu(flags: string): CpuInstructions {
  const present = new Set(flags.split(/\s+/));
  return byFlag.find(([flag]) => present.has(flag))?.[1] ?? { fastest: "none", lacking: ["AVX2"] };
}
