import { dirname, join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

/** What one confined process may use. */
export interface ResourceLimits {
  /** Address space. */
  readonly memoryBytes: number;
  /** Processor time over all threads. */
  readonly cpuSeconds: number;
  /** The largest file it may write. */
  readonly outputBytes: number;
}

/** The files that one confined process may open, other than the system's libraries. */
export interface OpenFiles {
  readonly inputPath: string;
  /** Made before it starts, where they are not there: it can make no file of its own. */
  readonly outputPaths: readonly string[];
}

const confinementSchema = Type.Object({
  /** Version of the kernel's Landlock, by which only the files of OpenFiles can be opened; 0 where it has none. */
  landlock: Type.Integer({ minimum: 0 }),
  /** Only the system calls of a program that reads, computes in threads and writes: no sockets, no processes. */
  seccomp: Type.Boolean(),
  networkNamespace: Type.Boolean(),
  /** It can be had in a user namespace of its own alone. */
  threadLimit: Type.Boolean(),
});

/** The parts of the confinement that are active on this machine; limits of memory, time, output and open files always are. */
export type Confinement = Static<typeof confinementSchema>;

/** Returns the program that starts ffmpeg confined (native/confine): it lies next to ffmpeg. */
export function confiningProgram(ffmpegPath: string): string {
  return join(dirname(ffmpegPath), "confine");
}

/** The command line that runs `command`, whose first part is the path of ffmpeg, confined, once it is sent a line. */
export function confinedCommand(
  command: readonly [string, ...string[]],
  limits: ResourceLimits,
  files: OpenFiles,
): [string, ...string[]] {
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

function wholeNumber(amount: number): string {
  return BigInt(Math.ceil(amount)).toString();
}

/** Reads what the confining program reports of itself; null where it is no report. */
export function parseConfinement(report: string): Confinement | null {
  try {
    return Value.Parse(confinementSchema, JSON.parse(report));
  } catch {
    return null;
  }
}
