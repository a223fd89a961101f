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
  /** Called with every piece of standard output as it comes, read as text. */
  readonly onStdout?: (text: string) => void;
  /** The same, as it is. */
  readonly onBytes?: (bytes: Uint8Array) => void;
  /** How much it prints to standard error is no reason to stop it: what is too much is dropped. */
  readonly mayFlood?: boolean;
  /** It waits for all other work on the machine, the steps of recordings in hand included. */
  readonly isAside?: boolean;
}

/** How a run ended, where it ended by itself or by one of its own limits. */
export interface FfmpegEnd {
  readonly exitCode: number;
  /** The signal that ended it, null for an exit. */
  readonly signalName: string | null;
  /** The first part of what it printed to standard error; may quote the file's metadata, so it is as hostile as the file. */
  readonly messages: string;
  /** It printed more than any honest file makes it print, and was stopped for that. */
  readonly flooded: boolean;
}

// A file with a hundred tracks and long tags prints some tens of KiB.
const MAX_PRINTED_BYTES = 1 << 20;

// What ffmpeg prints when it does not know an option that is used here, then exits 1 as for a bad file. It is the first that
// it prints: further down, a file's tags may say the same.
const UNKNOWN_OPTION = /^(?:Unrecognized option '|Error splitting the argument list: )/;

/** The least share of a processor that there is: what is aside waits for what yields to the server already. */
const ASIDE_NICENESS = 19;

/** How long a process that left its group may keep the pipes open after ffmpeg's own end. */
const PIPE_GRACE_MILLISECONDS = 5000;

/**
 * Runs ffmpeg confined (native/confine) and waits for its end.
 *
 * An abort, a timeout or a flood of output kills it and all that it started at once with SIGKILL. Throws the signal's reason after an abort,
 * MediaError `ffmpeg_timed_out` or `ffmpeg_unusable`; how any other end is to be read is the caller's business.
 */
export async function runFfmpeg(run: FfmpegRun): Promise<FfmpegEnd> {
  run.signal?.throwIfAborted();
  await requireProgram(run.ffmpegPath, "ffmpeg");
  await requireProgram(confiningProgram(run.ffmpegPath), "the program that confines ffmpeg");
  run.signal?.throwIfAborted();

  const child = Bun.spawn(
    confinedCommand([run.ffmpegPath, "-nostdin", "-hide_banner", ...run.arguments], run.limits, run),
    {
      // For the line that starts it.
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
      // Nothing of the server's environment: no secrets, no FFREPORT, no presets in $HOME. One malloc arena keeps the
      // address space, which the memory limit counts, near what is used.
      env: { LC_ALL: "C", MALLOC_ARENA_MAX: "1" },
      cwd: "/",
      // A process group of its own: whatever it starts ends with it, and a Ctrl-C for the server is not for it.
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
  // What it started and left behind.
  killGroup(child.pid);
  const grace = setTimeout(() => enough.abort(), PIPE_GRACE_MILLISECONDS);
  await reading.finally(() => clearTimeout(grace));
  run.signal?.throwIfAborted();
  if (timedOut) throw new MediaError("ffmpeg_timed_out", `ffmpeg took longer than ${run.timeoutSeconds} s`);
  const exitCode = child.exitCode ?? -1;
  // 126 and 127 come from the exec of something that is no program for this machine.
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
    // No more processes are allowed. It has not begun, and would wait for that.
    killGroup(leader);
    throw error;
  }
}

/** Kills a process group, of which nothing may be left. */
function killGroup(leader: number): void {
  try {
    process.kill(-leader, "SIGKILL");
  } catch (error) {
    // macOS says EPERM of a group whose last process waits to be reaped.
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

/** Sends the line that starts it. One that was killed before has no use for it: its end tells of that. */
async function begin(stdin: FileSink): Promise<void> {
  try {
    stdin.write("\n");
    await stdin.end();
  } catch {}
}
