import type { CrossTarget } from "./target.ts";

/** Returns the CMake arguments that select a cross compiler. */
export function crossArguments({ processor, cCompiler, compiler }: CrossTarget): string[] {
  return [
    ...["-DCMAKE_SYSTEM_NAME=Linux", `-DCMAKE_SYSTEM_PROCESSOR=${processor}`],
    ...[`-DCMAKE_C_COMPILER=${cCompiler}`, `-DCMAKE_CXX_COMPILER=${compiler}`],
  ];
}

/** Logs a build's progress in steps of 10 %, read from Ninja's "[57/150] …" or Make's "[ 38%] …". */
export function progressLines(log: (line: string) => void): (line: string) => void {
  let lastTenth = 0;
  let mostSteps = 0;
  return (line) => {
    const match = /^\[\s*(\d+)(?:\/(\d+)|%)\]/.exec(line);
    if (match === null) {
      return;
    }
    const steps = Number(match[2] ?? 100);
    // A nested build prints its own, smaller number of steps.
    if (steps < mostSteps) {
      return;
    }
    mostSteps = steps;
    const tenth = Math.floor((10 * Number(match[1])) / steps);
    if (tenth > lastTenth) {
      lastTenth = tenth;
      log(`native: ${tenth * 10} %`);
    }
  };
}
