import { dirname, join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

/** Resource limits of one confined process. */
interface ResourceLimits {
  /** Address space. */
  readonly memoryBytes: number;
  /** Processor time over all threads. */
  readonly cpuSeconds: number;
  /** Size of the largest file that the process may write. */
  readonly outputBytes: number;
}

/** The files that one confined process may open, other than the system's libraries. */
interface OpenFiles {
  readonly inputPath: string;
  /** The confining program creates missing output files, because the process can create none. */
  readonly outputPaths: readonly string[];
}

const confinementSchema = Type.Object({
  /** Version of the kernel's Landlock, which restricts opening to the files of OpenFiles; 0 if there is none. */
  landlock: Type.Integer({ minimum: 0 }),
  /** Whether seccomp is active: it permits reading, threads and writing, but no sockets and no child processes. */
  seccomp: Type.Boolean(),
  networkNamespace: Type.Boolean(),
  /** Whether the number of threads is limited. The limit is available only in a separate user namespace. */
  threadLimit: Type.Boolean(),
});

/** The parts of the confinement that are active on this machine. The resource limits always apply. */
export type Confinement = Static<typeof confinementSchema>;

/** Returns the path of the program that starts ffmpeg confined (native/confine), which lies next to ffmpeg. */
export function confiningProgram(ffmpegPath: string): string {
  return join(dirname(ffmpegPath), "confine");
}

/**
 * Builds the command line that runs `command` confined. The first element of `command` is the path of ffmpeg. The
 * confined process starts after it receives a line on standard input.
 */
export function confinedCommand(
  command: readonly [string, ...string[]],
  limits: ResourceLimits,
  files: OpenFiles,
): [string, ...string[]] {
  // A large amount as a plain integer, not in exponential notation.
  const wholeNumber = (amount: number) => BigInt(Math.ceil(amount)).toString();
  return [
    confiningProgram(command[0]),
    ...["--memory", wholeNumber(limits.memoryBytes)],
    ...["--cpu", wholeNumber(limits.cpuSeconds)],
    ...["--file", wholeNumber(limits.outputBytes)],
    ...["--read", files.inputPath],
    ...files.outputPaths.flatMap((path) => ["--write", path]),
    "--",
    ...command,
  ];
}

/** Parses the report that the confining program prints about itself. Returns null if the text is no such report. */
export function parseConfinement(report: string): Confinement | null {
  try {
    return Value.Parse(confinementSchema, JSON.parse(report));
  } catch {
    return null;
  }
}
