import { open, rm } from "node:fs/promises";
import { MachineError } from "../disk/index.ts";
import { ownCommand, residentBytes } from "../program/index.ts";
import { ExpectedError } from "../text/index.ts";
import type { ExportDocument, ExportHead, ExportSegment } from "./document.ts";
import type { ExportFormat } from "./formats.ts";

/** The error of a failed export, for the log, never for a client. */
export class ExportError extends ExpectedError {
  override readonly name = "ExportError";
}

/** The error of an export that exceeded its limit of time or memory, because the transcript is too long. */
export class ExportTooLargeError extends ExportError {}

/**
 * Limits of the child process, which permit a transcript of some 60 h as a PDF. A PDF of an 18 h transcript with 20,000
 * segments takes 2 to 5 s of CPU time and 220 to 270 MB. A PDF of 36 h takes 350 MB and one of 72 h 570 MB. The
 * transcripts were synthetic, and each word occurred once or twice.
 */
const MAX_CHILD_MILLISECONDS = 60_000;
const MAX_CHILD_BYTES = 512 * 1024 * 1024;

const MEMORY_CHECK_MILLISECONDS = 250;
const LINES_PER_WRITE = 500;

export interface ChildOptions {
  readonly signal?: AbortSignal | undefined;
  /** Limit on the child process's resident memory. */
  readonly maxChildBytes?: number;
}

/**
 * Writes a PDF or DOCX in a child process of this program.
 * @param path path of the file; the child's input is next to it until the child exits
 * @throws {ExportError} when the child fails
 * @throws {ExportTooLargeError} when the child exceeds its time or memory limit
 * @throws the signal's reason after an abort
 */
export async function runExportChild(
  format: ExportFormat,
  document: ExportDocument,
  path: string,
  { signal, maxChildBytes = MAX_CHILD_BYTES }: ChildOptions,
): Promise<void> {
  const input = `${path}.jsonl`;
  try {
    await writeInput(input, document, signal);
    await runChild([format, input, path], maxChildBytes, signal);
  } finally {
    await rm(input, { force: true });
  }
}

/** Writes the child's input: one JSON line for the head and one for each segment. */
async function writeInput(path: string, { segments, ...head }: ExportDocument, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  const file = await open(path, "wx", 0o600);
  try {
    let lines = [jsonLine(head)];
    const flush = async () => {
      // Unlike write, appendFile continues after a partial write on a nearly full disk.
      await file.appendFile(`${lines.join("\n")}\n`);
      lines = [];
    };
    for await (const segment of segments) {
      // PDF and DOCX do not need the times of the words.
      lines.push(jsonLine({ ...segment, words: [] }));
      if (lines.length < LINES_PER_WRITE) continue;
      await flush();
      signal?.throwIfAborted();
    }
    await flush();
  } finally {
    await file.close();
  }
}

/** Returns JSON without line separators, which JSON permits in strings but at which the child's reader ends a line. */
function jsonLine(value: ExportHead | ExportSegment): string {
  return JSON.stringify(value).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

async function runChild(args: readonly string[], maxBytes: number, signal: AbortSignal | undefined): Promise<void> {
  const limits = new AbortController();
  const stop = (why: string) => limits.abort(new ExportTooLargeError(`the export was stopped: ${why}`));
  const stopped = AbortSignal.any(signal === undefined ? [limits.signal] : [signal, limits.signal]);
  stopped.throwIfAborted();
  const child = Bun.spawn(ownCommand("__export", ...args), {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
    // The child gets neither the server's environment nor its directory, where the runtime would look for its own
    // settings.
    env: {},
    cwd: "/",
    signal: stopped,
    killSignal: "SIGKILL",
  });
  const timer = setTimeout(
    () => stop(`it took longer than ${MAX_CHILD_MILLISECONDS / 1000} s`),
    MAX_CHILD_MILLISECONDS,
  );
  // Limiting the address space is no alternative, because the runtime reserves far more of it than it uses.
  const watch = setInterval(() => {
    if ((residentBytes(child.pid) ?? 0) > maxBytes) stop("it took too much memory");
  }, MEMORY_CHECK_MILLISECONDS);
  try {
    const [messages, exitCode] = await Promise.all([new Response(child.stderr).text(), child.exited]);
    stopped.throwIfAborted();
    if (exitCode === 0) return;
    const code = /\b(?:ENOSPC|EDQUOT|EROFS|EMFILE|ENFILE)\b/.exec(messages)?.[0];
    const cause = code === undefined ? undefined : new MachineError(code, "the export could not be written");
    throw new ExportError(`the export process exited with ${exitCode}: ${messages.slice(-2000).trim()}`, { cause });
  } finally {
    clearTimeout(timer);
    clearInterval(watch);
  }
}
