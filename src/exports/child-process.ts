import { open, rm } from "node:fs/promises";
import { ownCommand } from "../program/index.ts";
import { MachineError } from "../storage/index.ts";
import type { ExportDocument, ExportHead } from "./document.ts";
import { ExportError, ExportTooLargeError } from "./export-error.ts";
import type { ExportOptions } from "./export-transcript.ts";
import type { ExportFormat } from "./formats.ts";
import { watchMemory } from "./watch-memory.ts";

/**
 * Limits of the child process, which permit a transcript of some 60 h as a PDF. A PDF of an 18 h transcript with 20,000
 * segments takes 2 to 5 s of CPU time and 220 to 270 MB. A PDF of 36 h takes 350 MB and one of 72 h 570 MB. The
 * transcripts were synthetic, and each word occurred once or twice.
 */
const timeoutMilliseconds = 60_000;
const usualMostBytes = 512 * 1024 * 1024;

const linesPerWrite = 500;

/**
 * Writes a PDF or DOCX in a child process of this program.
 * @param path path of the file; the child's input is next to it until the child ends
 * @throws {ExportError} when the child fails
 * @throws {ExportTooLargeError} when the child exceeds its time or memory limit
 * @throws the signal's reason after an abort
 */
export async function runExportChild(
  format: ExportFormat,
  document: ExportDocument,
  path: string,
  { signal, mostChildBytes = usualMostBytes }: ExportOptions,
): Promise<void> {
  const input = `${path}.jsonl`;
  try {
    await writeInput(input, document, signal);
    await runToEnd([format, input, path], mostChildBytes, signal);
  } finally {
    await rm(input, { force: true });
  }
}

/**
 * Writes the child's input: one JSON line for the head and one for each segment. The words are omitted, because PDF and
 * DOCX do not need their times.
 */
async function writeInput(path: string, { segments, ...head }: ExportDocument, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  const file = await open(path, "wx", 0o600);
  try {
    let lines = [JSON.stringify(head satisfies ExportHead)];
    const flush = async () => {
      // Unlike write, appendFile continues after a partial write on a nearly full disk.
      await file.appendFile(`${lines.join("\n")}\n`);
      lines = [];
    };
    for await (const segment of segments) {
      lines.push(JSON.stringify({ ...segment, words: [] }));
      if (lines.length < linesPerWrite) continue;
      await flush();
      signal?.throwIfAborted();
    }
    await flush();
  } finally {
    await file.close();
  }
}

async function runToEnd(args: readonly string[], mostBytes: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  const child = Bun.spawn(ownCommand("__export", ...args), {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
    // The child gets neither the server's environment nor its directory, where the runtime would look for its own
    // settings.
    env: {},
    cwd: "/",
  });
  let stopped = "";
  const stop = (why: string) => {
    stopped ||= why;
    child.kill("SIGKILL");
  };
  const abort = () => stop("it was no longer wanted");
  signal?.addEventListener("abort", abort, { once: true });
  const timer = setTimeout(() => stop(`it took longer than ${timeoutMilliseconds / 1000} s`), timeoutMilliseconds);
  const unwatch = watchMemory(child.pid, mostBytes, () => stop("it took too much memory"));
  try {
    const [messages, exitCode] = await Promise.all([new Response(child.stderr).text(), child.exited]);
    signal?.throwIfAborted();
    if (stopped !== "") throw new ExportTooLargeError(`the export was stopped: ${stopped}`);
    if (exitCode === 0) return;
    const code = /\b(?:ENOSPC|EDQUOT|EROFS|EMFILE|ENFILE)\b/.exec(messages)?.[0];
    const cause = code === undefined ? undefined : new MachineError(code, "the export could not be written");
    throw new ExportError(`the export ended with ${exitCode}: ${messages.slice(-2000).trim()}`, { cause });
  } finally {
    clearTimeout(timer);
    unwatch();
    signal?.removeEventListener("abort", abort);
  }
}
