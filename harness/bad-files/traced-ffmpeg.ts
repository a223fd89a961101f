import { join } from "node:path";
import { withoutConfinement } from "../media.ts";

export const canTrace =
  process.platform === "linux" && Bun.spawnSync(["/bin/sh", "-c", "strace -qq true"]).exitCode === 0;
if (!canTrace)
  console.warn("SKIPPED: that ffmpeg opens no other file is not looked at; strace is missing or may not trace");

/** Runs ffmpeg under strace, whose output goes through a pipe, because a confined process can create no file. */
export async function traceFfmpeg(ffmpegPath: string, folder: string) {
  const path = join(folder, "traced-ffmpeg");
  const pipe = join(folder, "trace");
  const log = join(folder, "trace.log");
  const calls = "trace=open,openat,openat2,creat,connect,sendto,bind,execve,rename,renameat,unlink,symlink,link";
  const script = `exec strace -f -qq -s 4096 -e ${calls} -o '${pipe}' '${ffmpegPath}' "$@"`;
  await Bun.write(path, `#!/bin/sh\n${script}\n`);
  Bun.spawnSync(["chmod", "+x", path]);
  // Without confinement, which would refuse other files and the trace.
  await withoutConfinement(folder);
  Bun.spawnSync(["mkfifo", pipe]);
  // Also opened for writing, so that the pipe does not end with its first writer.
  const reader = Bun.spawn(["/bin/sh", "-c", `exec cat <> '${pipe}' > '${log}'`], { stdin: "ignore" });
  return {
    path,
    /** Ends the trace and returns its lines, each a system call. */
    async calls(): Promise<string[]> {
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

/** Returns the paths that a trace's calls opened, without missing ones. */
export function openedPaths(calls: readonly string[]): string[] {
  const opened = calls.flatMap((call) => {
    const found = /(?:open|openat|openat2|creat)\((?:AT_FDCWD, )?"([^"]*)".*= (\d+)/.exec(call);
    return found?.[1] === undefined ? [] : [found[1]];
  });
  return [...new Set(opened)].sort();
}
