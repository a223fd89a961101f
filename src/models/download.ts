import { open } from "node:fs/promises";

/** How long a server may take to answer at all before the next source is tried. */
const CONNECT_TIMEOUT_MS = 5_000;
/** How long a download may stand still. */
const STALL_TIMEOUT_MS = 30_000;

/** Throws where the server does not answer a HEAD request within five seconds; any answer will do, a redirect included. */
export async function requireAnswer(url: string): Promise<void> {
  try {
    await fetch(url, { method: "HEAD", redirect: "manual", signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) });
  } catch (error) {
    throw new Error(`${new URL(url).hostname} can't be reached (${error instanceof Error ? error.message : error})`);
  }
}

/**
 * Downloads to a new file of exactly `bytes` bytes.
 * Throws where the server does not answer within five seconds, refuses, stands still for 30 s, or sends another length.
 */
export async function download(url: string, path: string, bytes: number): Promise<void> {
  await requireAnswer(url);
  const abort = new AbortController();
  const stall = () => abort.abort(new Error(`the download stood still for ${STALL_TIMEOUT_MS / 1_000} s`));
  let timer = setTimeout(stall, STALL_TIMEOUT_MS);
  const output = await open(path, "wx");
  try {
    const response = await fetch(url, { signal: abort.signal });
    if (!response.ok || !response.body) throw new Error(`${new URL(url).hostname} answered ${response.status}`);
    let received = 0;
    for await (const piece of response.body) {
      clearTimeout(timer);
      timer = setTimeout(stall, STALL_TIMEOUT_MS);
      received += piece.length;
      if (received > bytes) break;
      await output.appendFile(piece);
    }
    if (received !== bytes) throw new Error(`${new URL(url).hostname} sent a file of another size than ${bytes} bytes`);
  } finally {
    clearTimeout(timer);
    abort.abort();
    await output.close();
  }
}
