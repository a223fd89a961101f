import { join } from "node:path";
import { withoutConfinement } from "../support.ts";

/** Whether system calls can be traced here. */
export const canTrace =
  process.platform === "linux" && Bun.spawnSync(["/bin/sh", "-c", "strace -qq true"]).exitCode === 0;
if (!canTrace)
  console.warn("SKIPPED: that ffmpeg opens no other file is not looked at; strace is missing or may not trace");

/** An ffmpeg that tells what it opens and connects to. */
export interface TracedFfmpeg extends AsyncDisposable {
  readonly path: string;
  /** Ends the trace. @returns its lines, each a system call */
  calls(): Promise<string[]>;
}

/** Puts strace before an ffmpeg. What it writes goes through a pipe, since a confined process may write no file. */
export async function traceFfmpeg(ffmpegPath: string, folder: string): Promise<TracedFfmpeg> {
  const path = join(folder, "traced-ffmpeg");
  const pipe = join(folder, "trace");
  const log = join(folder, "trace.log");
  const calls = "trace=open,openat,openat2,creat,connect,sendto,bind,execve,rename,renameat,unlink,symlink,link";
  const script = `exec strace -f -qq -s 4096 -e ${calls} -o '${pipe}' '${ffmpegPath}' "$@"`;
  await Bun.write(path, `#!/bin/sh\n${script}\n`);
  Bun.spawnSync(["chmod", "+x", path]);
  // It shows what ffmpeg does by itself: the confinement would refuse other files, and would not have it traced.
  await withoutConfinement(folder);
  Bun.spawnSync(["mkfifo", pipe]);
  // Held open for writing too, so that it does not end with the first that writes.
  const reader = Bun.spawn(["/bin/sh", "-c", `exec cat <> '${pipe}' > '${log}'`], { stdin: "ignore" });
  return {
    path,
    async calls() {
      const end = `the end ${crypto.randomUUID()}`;
      await Bun.spawn(["/bin/sh", "-c", `echo '${end}' > '${pipe}'`]).exited;
      for (;;) {
        const text = await Bun.file(log).text();
        if (text.includes(end)) return text.split("\n").filter((line) => line !== "" && line !== end);
        await Bun.sleep(20);
      }
    },
    async [Symbol.asyncDispose]() {
      reader.kill();
      await reader.exited;
    },
  };
}

/** The paths that a trace's calls opened, without those that were not there. */
export function openedPaths(calls: readonly string[]): string[] {
  const opened = calls.flatMap((call) => {
    const found = /(?:open|openat|openat2|creat)\((?:AT_FDCWD, )?"([^"]*)".*= (\d+)/.exec(call);
    return found?.[1] === undefined ? [] : [found[1]];
  });
  return [...new Set(opened)].sort();
}
