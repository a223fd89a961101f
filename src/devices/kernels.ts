import { type Instructions, instructionsOfCpu } from "../runtimes/index.ts";
import { familyOf } from "../speech/index.ts";
import { cpuVariantOf } from "./cpu-libraries.ts";
import { describeEncoder, type EncoderTestOptions } from "./encoder-self-test.ts";

interface KernelsOptions extends EncoderTestOptions {
  /** Kind of instructions that the self-test of the CPU variant reported. */
  readonly instructions: Instructions;
  /** Content of /proc/cpuinfo; empty if the system has none. */
  readonly cpuinfo: string;
}

/** How this machine's CPU computes, for people. */
export interface KernelsDescription {
  /** The instructions, the forms of the models, and the reason why they are not faster, in one line. */
  readonly summary: string;
  /** The encoder that self-tests chose, and why; null if none is known yet, or the family has only one encoder. */
  readonly encoder: string | null;
}

/** Describes how the CPU computes with a speech model, from the stored verdicts: no self-test runs. */
export async function describeKernels(options: KernelsOptions): Promise<KernelsDescription> {
  const { instructions, speechModel } = options;
  const family = familyOf(speechModel);
  const own = family.describeKernels(speechModel, instructions);
  const tested = family.compareEncoders === null ? null : await describeEncoder(options);
  const untested = family.compareEncoders === null ? own.encoder : `${own.encoder} until its self-test`;
  const encoder = tested === null ? untested : (tested.form ?? own.encoder);
  const limit = limitOf({ ...options, variant: cpuVariantOf(options.cpuLibrary) });
  const parts = [
    instructions === "none" ? "ggml's" : instructions,
    `encoder: ${encoder}, decoder: ${own.decoder}, speaker models: ONNX Runtime`,
    ...(limit === null ? [] : [limit]),
  ];
  return { summary: parts.join("; "), encoder: tested?.text ?? null };
}

interface KernelLimits extends Pick<KernelsOptions, "instructions" | "cpuinfo" | "cpuVariant"> {
  /** Name of the CPU variant in use. */
  readonly variant: string;
}

/** Returns what prevents faster instructions; null if nothing does, or the processor is not an x86 one. */
export function limitOf({ cpuinfo, instructions, variant, cpuVariant }: KernelLimits): string | null {
  const flags = /^flags\s*:\s*(.*)$/m.exec(cpuinfo)?.[1];
  if (flags === undefined) return null;
  const { fastest, lacking } = instructionsOfCpu(flags);
  if (instructions !== fastest) {
    return cpuVariant === variant ? "limited by engine.cpu_variant" : `the variant ${variant} does not use ${fastest}`;
  }
  return lacking.length === 0 ? null : `this processor has no ${lacking.join(" or ")}, which would be faster`;
}
