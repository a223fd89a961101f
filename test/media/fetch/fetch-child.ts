/**
 * Fetches the link in argv[2] (of at most argv[3] bytes) in a process with its own environment. Prints the outcome and
 * the growth of its peak memory.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fetchRecording, MediaError, parseAllowList } from "../../../src/media/index.ts";

/** Returns the peak memory of this process; resourceUsage() also counts the process that started this one. */
async function peakBytes(): Promise<number> {
  const status = await Bun.file("/proc/self/status").text();
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

const [url = "", maxBytes = "1000000"] = process.argv.slice(2);
const folder = await mkdtemp(join(tmpdir(), "transcribe-test-"));
const before = process.memoryUsage.rss();
try {
  const sizeBytes = await fetchRecording({
    url: new URL(url),
    outputPath: join(folder, "recording"),
    maxBytes: Number(maxBytes),
    maxSeconds: 60,
    stallSeconds: 10,
    userAgent: "transcribe/test",
    allow: parseAllowList(["127.0.0.1"]),
    signal: new AbortController().signal,
    resolve: async () => ["127.0.0.1"],
  });
  const grownBytes = (await peakBytes()) - before;
  console.log(JSON.stringify({ fault: null, sizeBytes, grownBytes }));
} catch (error) {
  console.log(JSON.stringify({ fault: error instanceof MediaError ? error.fault : String(error) }));
} finally {
  await rm(folder, { recursive: true, force: true });
}
