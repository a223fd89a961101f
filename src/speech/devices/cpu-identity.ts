import { readFileSync } from "node:fs";
import { cpus } from "node:os";

/** Returns a text that identifies this CPU's instruction set: model and feature flags. */
export function cpuIdentity(): string {
  const model = cpus()[0]?.model ?? "";
  return `${process.arch} ${model} ${features()}`;
}

function features(): string {
  try {
    // "flags" on x86, "Features" on arm64
    return /^(?:flags|Features)\s*:\s*(.*)$/m.exec(readFileSync("/proc/cpuinfo", "utf8"))?.[1] ?? "";
  } catch {
    return "";
  }
}
