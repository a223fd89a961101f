import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, chownSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { getPriority } from "node:os";
import { join } from "node:path";
import { getuid } from "node:process";
import { available, FFMPEG, fakeFfmpeg, lavfi, MEDIA_TOOL } from "../../harness/media.ts";
import { confinedCommand, parseConfinement } from "../../src/media/confinement.ts";
import { type FfmpegRun, runFfmpeg } from "../../src/media/run-ffmpeg.ts";
import { MediaFolder } from "./media-folder.ts";

const compiler = Bun.which("c++");
const confine = join(FFMPEG, "../confine");
const ready = available(confine, "tests of ffmpeg's confinement") && compiler !== null;
if (compiler === null) console.warn("SKIPPED: tests of ffmpeg's confinement; missing: a C++ compiler");

const limits = { memoryBytes: 1 << 30, cpuSeconds: 10, outputBytes: 1_000_000 };
const nobody = 65_534;
const asNobody = ["setpriv", `--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups", "--"];
const isRoot = getuid?.() === 0;
/** Root and other users are confined in different ways. */
const users: readonly (readonly [string, readonly string[]])[] = isRoot
  ? [
      ["root", []],
      ["another user than root", asNobody],
    ]
  : [["this user", []]];

/** Puts a program in the place of ffmpeg that makes attempts, next to the real confining program. */
function setTrespasser(folder: MediaFolder): void {
  const source = join(import.meta.dir, "trespasser.cpp");
  const options = ["-std=c++17", "-static", "-pthread", "-o", folder.at("ffmpeg")];
  expect(Bun.spawnSync([compiler ?? "", ...options, source]).stderr.toString()).toBe("");
  copyFileSync(confine, folder.at("confine"));
}

/** Runs the program in the place of ffmpeg. */
const runIn = (folder: MediaFolder, args: readonly string[], others: Partial<FfmpegRun> = {}) =>
  runFfmpeg({
    ...{ ffmpegPath: folder.at("ffmpeg"), arguments: args, inputPath: folder.at("input"), outputPaths: [] },
    ...{ cpuSeconds: 10, outputBytes: 1_000_000, timeoutSeconds: 60, ...others },
  });

/** An attempt, the part of the confinement that refuses it, and whether it succeeds without confinement. */
interface Attempt {
  readonly attempt: string;
  readonly refusedBy: "landlock" | "seccomp" | "either";
  readonly succeedsOtherwise: boolean;
}

describe.if(ready).each(users)("an ffmpeg that a hostile recording controls, run as %s,", (_, prefix) => {
  using place = new MediaFolder();
  const path = (name: string) => place.at(name);
  let victim: Bun.Subprocess;

  beforeAll(async () => {
    mkdirSync(place.path, { recursive: true });
    chmodSync(place.path, 0o777);
    setTrespasser(place);
    for (const name of ["input", "database"]) {
      writeFileSync(path(name), name);
      if (prefix.length > 0) chownSync(path(name), nobody, nobody);
      chmodSync(path(name), 0o600);
    }
    victim = Bun.spawn([...prefix, "/bin/sleep", "600"]);
    // Before that, it is a process of root, which nobody else may signal.
    while (readFileSync(`/proc/${victim.pid}/comm`, "utf8") !== "sleep\n") await Bun.sleep(5);
  });
  afterAll(async () => {
    victim.kill();
    await victim.exited;
    place[Symbol.dispose]();
  });

  const linesOf = async (command: readonly string[]) => {
    const child = Bun.spawn([...prefix, ...command], { stdin: Buffer.from("\n"), stderr: "pipe", env: {}, cwd: "/" });
    const text = await new Response(child.stdout).text();
    await child.exited;
    return text.trim().split("\n");
  };
  const confined = (...attempts: string[]) =>
    linesOf(
      confinedCommand([path("ffmpeg"), ...attempts], limits, {
        inputPath: path("input"),
        outputPaths: [path("output")],
      }),
    );
  const active = async () => {
    const [report = ""] = await linesOf([path("confine"), "--report"]);
    const confinement = parseConfinement(report);
    if (confinement === null) throw new Error(`no report: ${report}`);
    return confinement;
  };

  const onFiles = (names: readonly string[], refusedBy: Attempt["refusedBy"]): Attempt[] =>
    names.map((name) => ({ attempt: `${name}=${path("database")}`, refusedBy, succeedsOtherwise: true }));
  const onProcess = (names: readonly string[]): Attempt[] =>
    names.map((name) => ({ attempt: `${name}=VICTIM`, refusedBy: "seccomp", succeedsOtherwise: true }));
  const attempts: readonly Attempt[] = [
    ...onFiles(["read", "write"], "landlock"),
    ...onFiles(["chmod", "truncate"], "seccomp"),
    { attempt: `create=${path("new")}`, refusedBy: "landlock", succeedsOtherwise: true },
    { attempt: `link=${path("link")}`, refusedBy: "either", succeedsOtherwise: true },
    { attempt: `list=${place.path}`, refusedBy: "either", succeedsOtherwise: true },
    { attempt: "list=/proc", refusedBy: "either", succeedsOtherwise: true },
    { attempt: "read=/etc/passwd", refusedBy: "landlock", succeedsOtherwise: true },
    { attempt: "read=/proc/self/environ", refusedBy: "landlock", succeedsOtherwise: true },
    ...onProcess(["kill", "signal-thread", "signal-from-descriptor", "limit"]),
    { attempt: "trace=VICTIM", refusedBy: "either", succeedsOtherwise: false },
    { attempt: "read-memory=VICTIM", refusedBy: "either", succeedsOtherwise: false },
    ...["socket", "unix-socket", "fork", "leave-group"].map(
      (attempt): Attempt => ({ attempt, refusedBy: "seccomp", succeedsOtherwise: true }),
    ),
    ...["mount", "namespace", "bpf", "io-uring"].map(
      (attempt): Attempt => ({ attempt, refusedBy: "seccomp", succeedsOtherwise: false }),
    ),
    { attempt: "run=/bin/true", refusedBy: "landlock", succeedsOtherwise: false },
    { attempt: `remove=${path("database")}`, refusedBy: "either", succeedsOtherwise: true },
  ];

  test("is refused every attempt, of which the unprivileged ones succeed without confinement", async () => {
    const { landlock, seccomp } = await active();
    const holds = { landlock: landlock > 0, seccomp, either: landlock > 0 || seccomp };
    const refused = attempts.filter(({ refusedBy }) => holds[refusedBy]);
    if (refused.length < attempts.length) {
      console.warn(`SKIPPED: ${attempts.length - refused.length} attempts that this kernel cannot refuse`);
    }
    const named = (all: readonly Attempt[]) => all.map(({ attempt }) => attempt.replace("VICTIM", String(victim.pid)));
    const denied = await confined(...named(refused));
    expect(denied.map((line) => line.split(" ")[0])).toEqual(refused.map(({ attempt }) => attempt.split("=")[0]));
    expect(denied.filter((line) => line.endsWith(" done"))).toEqual([]);
    const possible = attempts.filter(({ succeedsOtherwise }) => succeedsOtherwise);
    const done = await linesOf([path("ffmpeg"), ...named(possible)]);
    expect(done.filter((line) => !line.endsWith(" done"))).toEqual([]);
    for (const name of ["database", "input"]) writeFileSync(path(name), name);
  });

  test("can read its input, read and write its output, and use no file that the server has open", async () => {
    const descriptors = Array.from({ length: 20 }, (_unused, index) => `inherited=${index + 3}`);
    const [input, read, write, ...inherited] = await confined(
      ...[`read=${path("input")}`, `read=${path("output")}`, `write=${path("output")}`, ...descriptors],
    );
    expect([input, read, write]).toEqual(["read done", "read done", "write done"]);
    expect(inherited.filter((line) => line.endsWith("done"))).toEqual([]);
    expect(inherited).toHaveLength(descriptors.length);
  });

  test("has its resource limits, and a limit of threads where the system has one", async () => {
    const [threads = "", ...rest] = await confined("threads", "limits");
    expect(rest).toEqual([
      "limit memory 1073741824",
      "limit cpu 10",
      "limit file 1000000",
      "limit open 64",
      "limit core 0",
    ]);
    const count = Number(threads.split(" ")[1]);
    expect(count).toBeGreaterThan(16);
    if ((await active()).threadLimit) expect(count).toBe(63);
    else console.warn("SKIPPED: the limit of threads is not active here");
  });

  test("can gain no capability, and has a namespace without a network where available", async () => {
    const { seccomp, networkNamespace } = await active();
    const command = confinedCommand([path("ffmpeg"), "process", "wait"], limits, {
      inputPath: path("input"),
      outputPaths: [],
    });
    const child = Bun.spawn([...prefix, ...command], { stdin: Buffer.from("\n"), stdout: "pipe", env: {} });
    try {
      const { value } = await child.stdout.getReader().read();
      const status = readFileSync(`/proc/${/\d+/.exec(new TextDecoder().decode(value))?.[0]}/status`, "utf8");
      const field = (name: string) => new RegExp(`^${name}:\\s*(\\S+)`, "m").exec(status)?.[1];
      expect(field("NoNewPrivs")).toBe("1");
      expect(field("Seccomp")).toBe(seccomp ? "2" : "0");
      // Root keeps CAP_DAC_OVERRIDE, because the recordings belong to the service's user.
      for (const set of ["CapEff", "CapPrm"]) {
        expect(Number.parseInt(field(set) ?? "", 16) & ~(prefix.length === 0 && isRoot ? 2 : 0)).toBe(0);
      }
      if (networkNamespace) {
        expect(readFileSync(`/proc/${child.pid}/net/dev`, "utf8").match(/^ *\S+:/gm)).toEqual(["    lo:"]);
      }
    } finally {
      child.kill("SIGKILL");
    }
    await child.exited;
  });

  test("starts only after a line from the server, and ends if the server is gone before", async () => {
    const command = confinedCommand([path("ffmpeg"), "process"], limits, {
      inputPath: path("input"),
      outputPaths: [path("never")],
    });
    const child = Bun.spawn([...prefix, ...command], { stdin: Buffer.from(""), stdout: "pipe" });
    expect(await new Response(child.stdout).text()).toBe("");
    expect(await child.exited).toBe(126);
    expect(existsSync(path("never"))).toBe(false);
  });
});

describe.if(ready)("a run of ffmpeg", () => {
  test("is confined, gets nothing of the server's environment, and has a lower priority", async () => {
    using folder = new MediaFolder();
    setTrespasser(folder);
    await folder.write("input", "sound");
    process.env.TRANSCRIBE_TEST_SECRET = "s3cret";
    const controller = new AbortController();
    let printed = "";
    let priority: number | null = null;
    const running = runIn(folder, ["environment", "limits", "process", "wait"], {
      signal: controller.signal,
      onOutput: (bytes) => {
        printed += new TextDecoder().decode(bytes);
        const id = /^process (\d+)\n/m.exec(printed)?.[1];
        if (id === undefined) return;
        priority = getPriority(Number(id));
        controller.abort(new Error("seen"));
      },
    });
    await expect(running).rejects.toThrow("seen");
    delete process.env.TRANSCRIBE_TEST_SECRET;
    expect(printed.match(/^environment .*/gm)).toEqual(["environment LC_ALL=C", "environment MALLOC_ARENA_MAX=1"]);
    expect(printed).toContain("limit memory 1073741824\n");
    expect<number | null>(priority).toBe(Math.min(19, getPriority() + 10));
  });

  test("that prints endlessly is stopped", async () => {
    using folder = new MediaFolder();
    await folder.write("input", "sound");
    const ffmpegPath = await fakeFfmpeg(folder.path, "exec yes >&2");
    expect((await runIn(folder, [], { ffmpegPath })).flooded).toBe(true);
  });

  const confinement = parseConfinement(Bun.spawnSync([confine, "--report"]).stdout.toString());
  const canConfine =
    available(MEDIA_TOOL, "files that ffmpeg itself may open") &&
    confinement !== null &&
    confinement.landlock > 0 &&
    confinement.seccomp;
  if (!canConfine) console.warn("SKIPPED: files that ffmpeg itself may open; this kernel confines it only partly");

  test.if(canConfine)("cannot read another recording or an address, nor write another file", async () => {
    using folder = new MediaFolder();
    const tone = [...lavfi("sine=duration=1"), "-f", "wav"];
    const [input, other, output] = [
      folder.make("input", ...tone),
      folder.make("other.wav", ...tone),
      folder.at("output.wav"),
    ];
    // A complete ffmpeg, which could do all of this: the one that decodes recordings has no network at all.
    copyFileSync(MEDIA_TOOL, folder.at("ffmpeg"));
    copyFileSync(confine, folder.at("confine"));
    let connections = 0;
    using listener = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: { open: () => void connections++, data() {} },
    });
    const endOf = async (source: string, target: string) => {
      const args = ["-loglevel", "error", "-i", source, "-y", target];
      return (await runIn(folder, args, { outputPaths: [output] })).messages;
    };
    expect(await endOf(`file:${input}`, `file:${output}`)).toBe("");
    expect(await endOf(`file:${other}`, `file:${output}`)).toContain("Permission denied");
    expect(await endOf(`file:${input}`, `file:${folder.at("made.wav")}`)).toContain("Permission denied");
    expect(await endOf(`file:${input}`, `file:${other}`)).toContain("Permission denied");
    expect(await endOf(`tcp://127.0.0.1:${listener.port}`, `file:${output}`)).not.toBe("");
    expect(connections).toBe(0);
    expect(existsSync(folder.at("made.wav"))).toBe(false);
  });

  test("fails without the confining program", async () => {
    using folder = new MediaFolder();
    copyFileSync(FFMPEG, folder.at("ffmpeg"));
    await expect(runIn(folder, ["-version"])).rejects.toMatchObject({ fault: "ffmpeg_unusable" });
  });
});
