import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { FFMPEG, fakeFfmpeg, lavfi, namesIn } from "../../harness/media.ts";
import { isAlive } from "../../harness/processes.ts";
import { canMount, SmallDisk } from "../../harness/small-disk.ts";
import { machineTrouble } from "../../src/disk/index.ts";
import { MediaError, probeRecording } from "../../src/media/index.ts";
import { canDecode, ffmpegsNaming, MediaFolder, sparseWave, until } from "./media-folder.ts";

setDefaultTimeout(60_000);

const ready = canDecode("ffmpeg process tests");

/** Makes four hours of silence, long enough to be interrupted. */
const longRecording = (folder: MediaFolder) =>
  sparseWave(folder.at("long.wav"), 4 * 3600, { channels: 2, rateHz: 48_000 });
const shortRecording = (folder: MediaFolder) => folder.make("short.wav", ...lavfi("sine=duration=2:sample_rate=16000"));

async function faultOf(attempt: Promise<unknown>): Promise<string> {
  try {
    await attempt;
  } catch (error) {
    return error instanceof MediaError ? error.fault : String(error);
  }
  return "none";
}

describe.if(ready)("a decode in progress", () => {
  test("ends after an abort and leaves no process and no file", async () => {
    using folder = new MediaFolder();
    const controller = new AbortController();
    const reason = new Error("stopping");
    const seen: number[] = [];
    const onProgress = (fraction: number) => {
      seen.push(fraction);
      if (seen.length === 2) {
        expect(ffmpegsNaming(folder.path)).toHaveLength(1);
        controller.abort(reason);
      }
    };
    const { signal } = controller;
    const decoding = folder.decode(longRecording(folder), { maxSeconds: 64_800, onProgress, signal });
    expect(await decoding.catch((error) => error)).toBe(reason);
    expect(seen[0]).toBeGreaterThan(0);
    expect(seen[1]).toBeGreaterThan(seen[0] ?? 1);
    expect(await folder.names()).toEqual(["long.wav"]);
    expect(ffmpegsNaming(folder.path)).toEqual([]);
  });

  for (const [what, makeFfmpeg] of [
    ["", async () => FFMPEG],
    [
      ", even if it is a script that starts other processes",
      // Twice, so that there are grandchildren, as with a wrapper that waits for a wrapper.
      (folder: MediaFolder) => fakeFfmpeg(folder.path, `(sh -c '"$0" "$@"; true' '${FFMPEG}' "$@"; true)\ntrue`),
    ],
  ] as const) {
    test(`does not outlive a server that is killed${what}`, async () => {
      using folder = new MediaFolder();
      const program = [process.execPath, join(import.meta.dir, "decode-child.ts")];
      const child = Bun.spawn([...program, longRecording(folder), folder.at("decoded.pcm"), await makeFfmpeg(folder)], {
        stdin: "ignore",
        stdout: "pipe",
        stderr: "inherit",
      });
      try {
        await child.stdout.getReader().read();
        expect(ffmpegsNaming(folder.path).some((line) => line.includes("-progress"))).toBe(true);
      } finally {
        child.kill("SIGKILL");
      }
      await child.exited;
      await until(() => ffmpegsNaming(folder.path).length === 0);
    });
  }

  for (const [which, start] of [
    ["of its group", ""],
    ["that left its group, and keeps its output open", "setsid"],
  ] as const) {
    test(`ends after an abort even with a process ${which}`, async () => {
      using folder = new MediaFolder();
      const begun = folder.at("begun");
      const inputPath = await folder.write("upload", "sound");
      Bun.spawnSync(["mkfifo", begun]);
      const reading = Bun.spawn(["cat", begun], { stdout: "pipe" });
      // The process itself reports its start, which is after it left the group.
      const script = `${start} sh -c 'echo $$ > "$0"; exec sleep 600' '${begun}' & wait`;
      const ffmpegPath = await fakeFfmpeg(folder.path, script);
      const controller = new AbortController();
      const reason = new Error("stopping");
      const probing = probeRecording(ffmpegPath, inputPath, controller.signal).catch((error) => error);
      const started = Number(await new Response(reading.stdout).text());
      expect(isAlive(started)).toBe(true);
      controller.abort(reason);
      expect(await probing).toBe(reason);
      if (start === "setsid") process.kill(started, "SIGKILL");
      await until(() => !isAlive(started));
    });
  }

  test("starts no process if it was aborted before", async () => {
    using folder = new MediaFolder();
    const signal = AbortSignal.abort(new Error("never mind"));
    expect(await faultOf(folder.decode(shortRecording(folder), { signal }))).toBe("Error: never mind");
    expect(await folder.names()).toEqual(["short.wav"]);
  });
});

describe.if(ready)("the longest recording", () => {
  test.each([
    [1.5, "recording_too_long", ["short.wav"]],
    [2, "none", ["decoded.pcm", "short.wav"]],
  ])("of %d s, with 2 s of audio, gives the fault %p", async (maxSeconds, fault, left) => {
    using folder = new MediaFolder();
    expect(await faultOf(folder.decode(shortRecording(folder), { maxSeconds }))).toBe(fault);
    expect(await folder.names()).toEqual(left);
  });
});

/** A script for a successful probe, so that the fault occurs in the decode. */
const probing =
  'case "$*" in *framecrc*) printf "#sample_rate 0: 8000\\n#channel_layout_name 0: mono\\n"; exit 0;; esac';

describe("an ffmpeg that reports a full disk", () => {
  /** Decodes with a script that writes these numbers of bytes, one for each attempt, and then blames the disk. */
  const decodeWith = async (
    folder: MediaFolder,
    bytes: readonly number[],
    blame: string,
    outputPath = folder.at("decoded.pcm"),
  ) => {
    const cases = bytes.map((count, index) => `${index}) head -c ${count} /dev/zero > "\${output#file:}";;`);
    const counting = `tries=$(cat ${folder.path}/tries || echo 0); echo $((tries + 1)) > ${folder.path}/tries`;
    const script = `${probing}; for output; do :; done; ${counting}; case $tries in ${cases.join(" ")} esac; ${blame}`;
    const ffmpegPath = await fakeFfmpeg(folder.path, script);
    return folder.decode(await folder.write("upload", "sound"), { ffmpegPath, outputPath, maxSeconds: 60 });
  };
  const code = "exit 228";
  const words = 'echo "x: No space left on device" >&2; exit 1';

  test.each([
    ["by its exit code", code],
    ["by a message, like older versions", words],
  ])("%s, on a full disk, is a fault of the machine", async (_, blame) => {
    if (!canMount) return;
    using folder = new MediaFolder();
    const small = folder.at("small");
    mkdirSync(small);
    using _disk = new SmallDisk(small, "size=64k");
    const error = await decodeWith(folder, [60_000], blame, join(small, "decoded.pcm")).catch((thrown) => thrown);
    expect(error).toMatchObject({ fault: "disk_full" });
    expect(machineTrouble(error)).toMatchObject({ kind: "disk_full", isConfirmed: true });
    expect(await namesIn(small)).toEqual([]);
  });

  test.each([
    ["by its exit code", code],
    ["by a message", words],
  ])("%s, on a disk with space, and stops twice at the same sample, has a damaged recording", async (_, blame) => {
    using folder = new MediaFolder();
    const decoded = await decodeWith(folder, [4000, 4000], blame);
    expect(decoded).toMatchObject({ sampleCount: 2000, damaged: true });
    expect(await folder.names()).toEqual(["confine", "decoded.pcm", "fake-ffmpeg", "tries", "upload"]);
  });

  test("only once had a temporary fault", async () => {
    using folder = new MediaFolder();
    const decoded = await decodeWith(folder, [4000, 6000], '[ "$tries" = 1 ] || exit 228');
    expect(decoded).toMatchObject({ sampleCount: 3000, damaged: false });
  });

  test("repeatedly, at different samples, makes the recording fail", async () => {
    using folder = new MediaFolder();
    expect(await faultOf(decodeWith(folder, [4000, 6000, 5000], code))).toBe("ffmpeg_crashed");
    expect(await folder.names()).toEqual(["confine", "fake-ffmpeg", "tries", "upload"]);
  });
});

describe("a fault that is not the recording's has its own name", () => {
  const cases: [string, string, string][] = [
    ["an ffmpeg that crashes", `${probing}; kill -SEGV $$`, "ffmpeg_crashed"],
    [
      "an ffmpeg that is killed by its processor limit",
      `${probing}; ulimit -t 1; while :; do :; done`,
      "ffmpeg_crashed",
    ],
    [
      "an ffmpeg that runs out of memory during the decode",
      `${probing}; for path in "$@"; do :; done; head -c 64000 /dev/zero > "\${path#file:}"; exit 244`,
      "ffmpeg_out_of_memory",
    ],
    ["a file that exceeds the memory at once", `${probing}; exit 244`, "not_a_recording"],
    [
      "an ffmpeg that does not know an option",
      `echo "Unrecognized option 'codec_whitelist'." >&2; exit 1`,
      "ffmpeg_unusable",
    ],
    ["an ffmpeg for another machine", "exit 126", "ffmpeg_unusable"],
  ];
  for (const [what, script, fault] of cases) {
    test(`${what}: ${fault}`, async () => {
      using folder = new MediaFolder();
      const ffmpegPath = await fakeFfmpeg(folder.path, script);
      const decoding = folder.decode(await folder.write("upload", "sound"), { ffmpegPath, maxSeconds: 60 });
      expect(await faultOf(decoding)).toBe(fault);
      expect(await folder.names()).toEqual(["confine", "fake-ffmpeg", "upload"]);
    });
  }

  test("a missing ffmpeg: ffmpeg_unusable", async () => {
    using folder = new MediaFolder();
    await folder.write("upload", "sound");
    expect(await faultOf(probeRecording(folder.at("nowhere"), folder.at("upload")))).toBe("ffmpeg_unusable");
  });

  test("a missing recording, or a folder in its place: input_unreadable", async () => {
    using folder = new MediaFolder();
    const ffmpegPath = await fakeFfmpeg(folder.path, "exit 0");
    expect(await faultOf(probeRecording(ffmpegPath, folder.at("gone")))).toBe("input_unreadable");
    expect(await faultOf(probeRecording(ffmpegPath, folder.path))).toBe("input_unreadable");
  });
});

describe("a probe that does not end", () => {
  test.each([
    // The wall-clock limit is too high to end this script before the CPU limit does.
    ["that uses the processor is the file's fault", "while :; do :; done", 1, 60, "too much work"],
    ["that exceeds the memory limit is the file's fault", "exit 244", 10, 60, "too much memory"],
    ["that waits is the machine's fault", "exec sleep 600", 10, 0.5, "ffmpeg_timed_out"],
  ])("%s", async (_, script, cpuSeconds, timeoutSeconds, end) => {
    using folder = new MediaFolder();
    const inputPath = await folder.write("upload", "sound");
    const effort = { cpuSeconds, timeoutSeconds };
    const probing = probeRecording(await fakeFfmpeg(folder.path, script), inputPath, undefined, effort);
    if (end.startsWith("ffmpeg")) return expect(await faultOf(probing)).toBe(end);
    const reason = `The file takes ${end} to examine; it is damaged or not a recording.`;
    expect(await probing).toEqual({ ok: false, reason });
  });
});
