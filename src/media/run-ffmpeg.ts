import { constants } from "node:fs";
import { access } from "node:fs/promises";
import type { FileSink } from "bun";
import { yieldProcessor } from "../program/index.ts";
import { confinedCommand, confiningProgram, type OpenFiles, type ResourceLimits } from "./confinement.ts";
import { guardGroup } from "./guard-group.ts";
import { MediaError } from "./media-error.ts";

/** One run of ffmpeg. */
export interface FfmpegRun extends OpenFiles {
  readonly ffmpegPath: string;
  readonly arguments: readonly string[];
  readonly limits: ResourceLimits;
  /** Wall-clock limit. */
  readonly timeoutSeconds: number;
  readonly signal?: AbortSignal | undefined;
  /** Called with each chunk of standard output as text. */
  readonly onStdout?: (text: string) => void;
  /** Called with each chunk of standard output as raw bytes. */
  readonly onBytes?: (bytes: Uint8Array) => void;
  /** If true, excess output on standard error is dropped and does not stop the run. */
  readonly mayFlood?: boolean;
  /**
   * If true, the process runs at the lowest priority, below all other work on the machine, the steps of recordings
   * in progress included.
   */
  readonly isAside?: boolean;
}

/** The end of a run that ended by itself or by one of its own limits. */
export interface FfmpegEnd {
  readonly exitCode: number;
  /** The signal that ended ffmpeg, null if it exited. */
  readonly signalName: string | null;
  /** The first part of standard error. It may quote the file's metadata and is therefore untrusted. */
  readonly messages: string;
  /** Whether ffmpeg was stopped because it printed more than any well-formed file makes it print. */
  readonly flooded: boolean;
}

// A file with a hundred tracks and long tags prints some tens of KiB.
const MAX_PRINTED_BYTES = 1 << 20;

// Message of an ffmpeg that does not know an option used here. It then exits with 1, as for a bad file. Only the start
// of the output is matched, because a file's tags may contain the same text further down.
const UNKNOWN_OPTION = /^(?:Unrecognized option '|Error splitting the argument list: )/;

/**
 * Lowest scheduling priority. The server's other child processes already have a lower priority than the server; this
 * one is below them too.
 */
const ASIDE_NICENESS = 19;

/** Time for which a process that left the group may keep the pipes open after ffmpeg's end. */
const PIPE_GRACE_MILLISECONDS = 5000;

/**
 * Runs ffmpeg confined (native/confine) and waits for its end.
 *
 * An abort, a timeout or a flood of output immediately kills ffmpeg and all its child processes with SIGKILL. The
 * caller interprets any other end.
 * @throws {MediaError} `ffmpeg_timed_out` or `ffmpeg_unusable`
 * @throws the signal's reason after an abort
 */
export async function runFfmpeg(run: FfmpegRun): Promise<FfmpegEnd> {
  run.signal?.throwIfAborted();
  await requireProgram(run.ffmpegPath, "ffmpeg");
  await requireProgram(confiningProgram(run.ffmpegPath), "the program that confines ffmpeg");
  run.signal?.throwIfAborted();

  const child = Bun.spawn(
    confinedCommand([run.ffmpegPath, "-nostdin", "-hide_banner", ...run.arguments], run.limits, run),
    {
      // The confined process starts when it receives a line.
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
      // ffmpeg gets none of the server's environment: no secrets, no FFREPORT, no presets in $HOME. One malloc arena
      // keeps the address space, which the memory limit counts, close to the memory in use.
      env: { LC_ALL: "C", MALLOC_ARENA_MAX: "1" },
      cwd: "/",
      // In a separate process group, all child processes are killed with ffmpeg, and a Ctrl-C for the server does not
      // reach them.
      detached: true,
    },
  );
  using _ = guarded(child.pid);
  yieldProcessor(child.pid, run.isAside === true ? ASIDE_NICENESS : undefined);
  void begin(child.stdin);
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
  const flood = () => {
    flooded = true;
    kill();
  };

  let messages = "";
  const reading = Promise.all([
    drain(child.stdout, enough.signal, listener(run)),
    drain(
      child.stderr,
      enough.signal,
      asText((text) => {
        if (messages.length < MAX_PRINTED_BYTES) messages += text;
        else if (run.mayFlood !== true) flood();
      }),
    ),
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
  return { exitCode, signalName: child.signalCode === null ? null : String(child.signalCode), messages, flooded };
}

async function requireProgram(path: string, name: string): Promise<void> {
  try {
    await access(path, constants.X_OK);
  } catch (cause) {
    throw new MediaError("ffmpeg_unusable", `${name} is missing or not executable`, { cause });
  }
}

function guarded(leader: number): Disposable {
  try {
    return guardGroup(leader);
  } catch (error) {
    // The system permits no more processes. The leader has not started ffmpeg and would wait for its line.
    killGroup(leader);
    throw error;
  }
}

/** Kills a process group, which may already be empty. */
function killGroup(leader: number): void {
  try {
    process.kill(-leader, "SIGKILL");
  } catch (error) {
    // macOS returns EPERM for a group whose last process waits to be reaped.
    if (!(error instanceof Error && "code" in error && (error.code === "ESRCH" || error.code === "EPERM"))) throw error;
  }
}

type ByteListener = (bytes: Uint8Array) => void;

function listener({ onStdout, onBytes }: FfmpegRun): ByteListener {
  const onText = onStdout === undefined ? () => {} : asText(onStdout);
  return (bytes) => {
    onText(bytes);
    onBytes?.(bytes);
  };
}

function asText(onText: (text: string) => void): ByteListener {
  const decoder = new TextDecoder();
  return (bytes) => onText(decoder.decode(bytes, { stream: true }));
}

async function drain(stream: ReadableStream<Uint8Array>, enough: AbortSignal, onBytes: ByteListener): Promise<void> {
  const reader = stream.getReader();
  enough.addEventListener("abort", () => void reader.cancel(), { once: true });
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    onBytes(value);
  }
}

/**
 * Sends the line that starts the confined process. A write error is ignored: the process was killed before, and its end
 * reports that.
 */
async function begin(stdin: FileSink): Promise<void> {
  try {
    stdin.write("\n");
    await stdin.end();
  } catch {}
}
