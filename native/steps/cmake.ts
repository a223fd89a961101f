import type { CrossTarget } from "./target.ts";

/** What CMake is told where it compiles for another kind of machine. */
export function crossArguments({ processor, cCompiler, compiler }: CrossTarget): string[] {
  return [
    ...["-DCMAKE_SYSTEM_NAME=Linux", `-DCMAKE_SYSTEM_PROCESSOR=${processor}`],
    ...[`-DCMAKE_C_COMPILER=${cCompiler}`, `-DCMAKE_CXX_COMPILER=${compiler}`],
  ];
}

/** Passes on every tenth step of a build: "[57/150] …" of Ninja, "[ 38%] …" of Make. */
export function progressLines(log: (line: string) => void): (line: string) => void {
  let lastTenth = 0;
  let mostSteps = 0;
  return (line) => {
    const match = /^\[\s*(\d+)(?:\/(\d+)|%)\]/.exec(line);
    if (match === null) {
      return;
    }
    const steps = Number(match[2] ?? 100);
    // A build that is part of it counts its own.
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
