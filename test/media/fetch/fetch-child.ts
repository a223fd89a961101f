/**
 * Fetches the link in argv[2] (of at most argv[3] bytes) in a process with an environment of its own, and prints what it came to and how
 * much its peak of memory grew.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FetchError, fetchRecording, parseAllowList } from "../../../src/media/fetch/index.ts";

/** The peak of this program's own memory: what resourceUsage() gives goes on from the process that started this one. */
async function peakBytes(): Promise<number> {
  const status = await Bun.file("/proc/self/status").text();
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

const [url = "", maxBytes = "1000000"] = process.argv.slice(2);
const folder = await mkdtemp(join(tmpdir(), "transcribe-test-"));
const before = process.memoryUsage.rss();
try {
  const { sizeBytes } = await fetchRecording({
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
  console.log(JSON.stringify({ fault: error instanceof FetchError ? error.fault : String(error) }));
} finally {
  await rm(folder, { recursive: true, force: true });
}
