import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { FileSink } from "bun";
import { yieldProcessor } from "../program/index.ts";
import { confinedCommand, confiningProgram } from "./confinement.ts";
import { groupGuard, killGroup } from "./guard-groups.ts";
import { MediaError } from "./media-error.ts";

/** A stored file, and the ffmpeg that reads it. */
export interface InputFile {
  readonly ffmpegPath: string;
  readonly inputPath: string;
  readonly signal?: AbortSignal | undefined;
}

/** One run of ffmpeg. */
export interface FfmpegRun extends InputFile {
  /** Files that ffmpeg writes. Default: none. */
  readonly outputPaths?: readonly string[];
  readonly arguments: readonly string[];
  readonly cpuSeconds: number;
  /** Size of the largest output file. Default: 0. */
  readonly outputBytes?: number;
  /** Wall-clock limit. */
  readonly timeoutSeconds: number;
  /** Called with each chunk of standard output. Without it, the first part is returned as text. */
  readonly onOutput?: (bytes: Uint8Array) => void;
  /** If true, excess output on standard error is dropped and does not stop the run. */
  readonly ignoresFlood?: boolean;
  /** If true, the process runs at the lowest priority, below the steps of recordings too. */
  readonly isBackground?: boolean;
}

/** The result of a run that exited by itself or at one of its own limits. */
export interface FfmpegEnd {
  readonly exitCode: number;
  /** The signal that killed ffmpeg; null if it exited. */
  readonly signalName: string | null;
  /** The first part of standard output, if the run has no listener. */
  readonly output: string;
  /** The first part of standard error. It may quote the file's metadata and is therefore untrusted. */
  readonly messages: string;
  /** Whether ffmpeg was stopped because it printed more than any well-formed file makes it print. */
  readonly flooded: boolean;
}

/** Memory limit of ffmpeg: 1 GiB. Decoding the test corpus takes under 0.3 GiB of address space. */
const MEMORY_LIMIT_BYTES = 1 << 30;

// A file with a hundred tracks and long tags prints some tens of KiB.
const MAX_PRINTED_CHARACTERS = 1 << 20;
const MAX_OUTPUT_CHARACTERS = 1 << 18;

// Message of an ffmpeg that does not know an option used here. It then exits with 1, as for a bad file. Only the start
// of the output is matched, because a file's tags may contain the same text further down.
const UNKNOWN_OPTION = /^(?:Unrecognized option '|Error splitting the argument list: )/;

/** Lowest scheduling priority, below the server's other child processes too. */
const BACKGROUND_NICENESS = 19;

/** Time for which a process that left the group may keep the pipes open after ffmpeg's end. */
const PIPE_GRACE_MILLISECONDS = 5000;

/**
 * Runs ffmpeg confined (native/confine) and waits for its end. An abort, a timeout or a flood of output immediately
 * kills ffmpeg and all its child processes with SIGKILL. The caller interprets any other end.
 * @throws {MediaError} `ffmpeg_timed_out` or `ffmpeg_unusable`
 * @throws the signal's reason after an abort
 */
export async function runFfmpeg(run: FfmpegRun): Promise<FfmpegEnd> {
  run.signal?.throwIfAborted();
  await requireProgram(run.ffmpegPath, "ffmpeg");
  await requireProgram(confiningProgram(run.ffmpegPath), "the program that confines ffmpeg");
  run.signal?.throwIfAborted();

  const command = [run.ffmpegPath, "-nostdin", "-hide_banner", ...run.arguments] as const;
  const { inputPath, outputPaths = [], cpuSeconds, outputBytes = 0 } = run;
  const limits = { memoryBytes: MEMORY_LIMIT_BYTES, cpuSeconds, outputBytes };
  const child = Bun.spawn(confinedCommand(command, limits, { inputPath, outputPaths }), {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
    cwd: "/",
    // ffmpeg gets none of the server's environment: no secrets, no FFREPORT, no presets in $HOME. One malloc arena
    // keeps the address space, which the memory limit counts, close to the memory in use.
    env: { LC_ALL: "C", MALLOC_ARENA_MAX: "1" },
    // In a separate process group, all child processes are killed with ffmpeg, and a Ctrl-C for the server does not
    // reach them.
    detached: true,
  });
  using _ = await groupGuard.add(child.pid);
  yieldProcessor(child.pid, run.isBackground === true ? BACKGROUND_NICENESS : undefined);
  void start(child.stdin);
  let timedOut = false;
  let flooded = false;
  const enough = new AbortController();
  const kill = () => {
    killGroup(child.pid);
    enough.abort();
  };
  const timer = setTimeout(() => {
    timedOut = true;
    kill();
  }, run.timeoutSeconds * 1000);
  run.signal?.addEventListener("abort", kill, { once: true });
  // While the guard started.
  if (run.signal?.aborted === true) kill();

  let output = "";
  const collectOutput = textReader((text) => {
    if (output.length < MAX_OUTPUT_CHARACTERS) output += text;
  });
  let messages = "";
  const collectMessages = textReader((text) => {
    if (messages.length < MAX_PRINTED_CHARACTERS) messages += text;
    else if (run.ignoresFlood !== true) {
      flooded = true;
      kill();
    }
  });
  const reading = Promise.all([
    drain(child.stdout, enough.signal, run.onOutput ?? collectOutput),
    drain(child.stderr, enough.signal, collectMessages),
  ]);
  reading.catch(kill);
  await child.exited;
  clearTimeout(timer);
  run.signal?.removeEventListener("abort", kill);
  // Child processes that outlived ffmpeg.
  killGroup(child.pid);
  const grace = setTimeout(() => enough.abort(), PIPE_GRACE_MILLISECONDS);
  await reading.finally(() => clearTimeout(grace));
  run.signal?.throwIfAborted();
  if (timedOut) throw new MediaError("ffmpeg_timed_out", `ffmpeg took longer than ${run.timeoutSeconds} s`);
  const exitCode = child.exitCode ?? -1;
  // 126 and 127 are the exit codes when exec fails because the file is not a program for this machine.
  if (exitCode === 126 || exitCode === 127 || (exitCode !== 0 && UNKNOWN_OPTION.test(messages))) {
    throw new MediaError("ffmpeg_unusable", `ffmpeg can't be used: ${messages.slice(-500).trim()}`);
  }
  const signalName = child.signalCode === null ? null : String(child.signalCode);
  return { exitCode, signalName, output, messages, flooded };
}

async function requireProgram(path: string, name: string): Promise<void> {
  await access(path, constants.X_OK).catch((cause: unknown) => {
    throw new MediaError("ffmpeg_unusable", `${name} is missing or not executable`, { cause });
  });
}

function textReader(onText: (text: string) => void): (bytes: Uint8Array) => void {
  const decoder = new TextDecoder();
  return (bytes) => onText(decoder.decode(bytes, { stream: true }));
}

/** Returns a listener for output that calls `onLine` for each complete line. */
export function lineReader(onLine: (line: string) => void): (bytes: Uint8Array) => void {
  let rest = "";
  return textReader((text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line);
  });
}

/** Time after which other work of the server runs between two chunks: more may be waiting all the time. */
const BUSY_MILLISECONDS = 20;

async function drain(
  stream: ReadableStream<Uint8Array>,
  enough: AbortSignal,
  onBytes: (bytes: Uint8Array) => void,
): Promise<void> {
  const reader = stream.getReader();
  enough.addEventListener("abort", () => void reader.cancel(), { once: true });
  let since = performance.now();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    onBytes(value);
    if (performance.now() - since < BUSY_MILLISECONDS) continue;
    await yieldToEventLoop();
    since = performance.now();
  }
}

/** Sends the line that starts the confined process. A write error means that the process was killed before. */
async function start(stdin: FileSink): Promise<void> {
  try {
    stdin.write("\n");
    await stdin.end();
  } catch {}
}
