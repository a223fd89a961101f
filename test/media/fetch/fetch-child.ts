/**
 * Fetches the link in argv[2] (of at most argv[3] bytes) in a process with its own environment. Prints the outcome and
 * the growth of its peak memory.
 */
import { join } from "node:path";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { MediaError } from "../../../src/media/index.ts";
import { fetchTo } from "./support.ts";

/** Returns the peak memory of this process; resourceUsage() also counts the process that started this one. */
async function peakBytes(): Promise<number> {
  const status = await Bun.file("/proc/self/status").text();
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

const [url = "", maxBytes = "1000000"] = process.argv.slice(2);
using folder = temporaryDirectory();
const before = process.memoryUsage.rss();
try {
  const sizeBytes = await fetchTo(join(folder.path, "recording"), url, { maxBytes: Number(maxBytes), maxSeconds: 60 });
  const grownBytes = (await peakBytes()) - before;
  console.log(JSON.stringify({ fault: null, sizeBytes, grownBytes }));
} catch (error) {
  console.log(JSON.stringify({ fault: error instanceof MediaError ? error.fault : String(error) }));
}
