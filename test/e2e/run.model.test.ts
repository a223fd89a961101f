import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { available, root, samplePath } from "../../harness/checkout.ts";
import { spokenText } from "../../harness/client.ts";
import type { Segment } from "../../harness/contract.ts";
import { programCommand, programSettings } from "../../harness/program.ts";
import { runCli } from "../../harness/server.ts";
import { canMount, withSmallDisk } from "../../harness/small-disk.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { wavHeader } from "../../src/media/index.ts";

const jfk = samplePath("jfk.mp3");

interface Outcome {
  readonly input: string;
  readonly language: string | null;
  readonly segments: Segment[] | null;
  readonly output: string | null;
  readonly error: { code: string } | null;
}

describe.if(available("e2e tests of transcribing without a server", jfk))("transcribe run", () => {
  // A machine without files of the program: the home directory and the directory of temporary files are empty.
  let here: ReturnType<typeof temporaryDirectory>;
  let temporary: string;
  let environment: Record<string, string>;
  beforeAll(() => {
    here = temporaryDirectory();
    temporary = join(here.path, "tmp");
    mkdirSync(temporary);
    // The runtime would take an empty XDG_CACHE_HOME for its working directory, which is the checkout.
    environment = { HOME: join(here.path, "home"), XDG_CACHE_HOME: join(here.path, "home/.cache"), TMPDIR: temporary };
  });
  afterAll(() => here[Symbol.dispose]());

  test("writes transcripts without server and settings, continues after invalid files, and leaves nothing behind", async () => {
    const [text, silence] = [join(here.path, "notes.txt"), join(here.path, "silence.wav")];
    await Bun.write(text, "no recording");
    await Bun.write(silence, silentWav(16_000 * 2));
    const args = [
      "run",
      text,
      silence,
      jfk,
      "--language",
      "en",
      "-o",
      `${here.path}/out/`,
      "--format",
      "srt",
      "--json",
    ];
    const { exitCode, stdout, stderr } = await runCli(args, environment);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("2 of 3 recordings failed")]);
    const outcomes = JSON.parse(stdout) as Outcome[];
    const written = join(here.path, "out/jfk.srt");
    expect(outcomes.map(({ input, output, error }) => [input, output, error?.code ?? null])).toEqual([
      [text, null, "local"],
      [silence, null, "no_speech"],
      [jfk, written, null],
    ]);
    expect(readFileSync(written, "utf8")).toContain("ask not");
    expect(readdirSync(temporary)).toEqual([]);
    expect(readdirSync(join(here.path, "home/.cache/transcribe"))).toEqual(["devices.json"]);

    // Users also write relative paths.
    const printed = await runCli(["run", relative(root, jfk), "--json"], environment);
    expect([printed.exitCode, printed.stderr]).toEqual([0, ""]);
    const [only] = JSON.parse(printed.stdout) as Outcome[];
    expect(only).toMatchObject({ input: relative(root, jfk), language: "en", output: null, error: null });
    expect(spokenText(only?.segments ?? [])).toContain("ask not what your country can do for you");
  }, 180_000);

  test("transcribes standard input, and files whose names and folder are not UTF-8", async () => {
    const folder = Buffer.concat([Buffer.from(`${here.path}/`), Buffer.from("fólder", "latin1")]);
    mkdirSync(folder);
    copyFileSync(jfk, Buffer.concat([folder, Buffer.from("/Gespräch.mp3", "latin1")]));
    const line = 'cd "$1"/f*; shift; "$@" run - Gespr*.mp3 --name Mond.mp3 --language en --format txt -o ./ < "$0"';
    const child = Bun.spawn(["sh", "-c", line, jfk, here.path, ...programCommand()], {
      env: { ...process.env, ...programSettings, ...environment },
      stdout: "ignore",
      stderr: "pipe",
    });
    expect([await new Response(child.stderr).text(), await child.exited]).toEqual(["", 0]);
    const written = readdirSync(folder, "buffer").map((name) => name.toString("latin1"));
    expect(written.sort()).toEqual(["Gespräch.mp3", "Gespräch.txt", "Mond.txt"]);
    for (const name of ["Mond.txt", "Gespräch.txt"]) {
      const path = Buffer.concat([folder, Buffer.from(`/${name}`, "latin1")]);
      expect(readFileSync(path, "utf8")).toContain("ask not");
    }
    expect(readdirSync(temporary)).toEqual([]);
  }, 180_000);

  test("exits with 130 after Ctrl-C and leaves nothing behind", async () => {
    const child = Bun.spawn(programCommand("run", jfk), {
      env: { ...process.env, ...programSettings, ...environment },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    while (readdirSync(temporary).length === 0 && child.exitCode === null) await Bun.sleep(20);
    child.kill("SIGINT");
    expect(await child.exited).toBe(130);
    expect(readdirSync(temporary)).toEqual([]);
    expect(await new Response(child.stdout).text()).toBe("");
  }, 60_000);

  test("reports an unknown language, a missing model, file or directory before the transcription", async () => {
    const cases = [
      [["run", jfk, "--language", "xx"], "does not support the language xx"],
      [["run", jfk, "--model", "/no/model.bin"], "/no/model.bin"],
      [["run", "/no/such.mp3"], "there is no file"],
      [["run", jfk, "-o", `${here.path}/none/x.srt`], "there is no directory"],
    ] as const;
    const check = async ([args, message]: (typeof cases)[number]) => {
      const { exitCode, stdout, stderr } = await runCli(args, environment);
      expect([args, exitCode, stdout]).toEqual([args, 1, ""]);
      expect(stderr).toContain(message);
      expect(stderr).not.toMatch(/\n\s+at /);
    };
    await Promise.all(cases.map(check));
  }, 60_000);

  test.skipIf(!canMount).each(["100k", "200k"])(
    "names a full directory of temporary files of %s, and the variable that selects another",
    (size) => {
      withSmallDisk(size, (disk) => {
        const { exitCode, stderr } = Bun.spawnSync(programCommand("run", jfk), {
          env: { ...process.env, ...programSettings, ...environment, TMPDIR: disk },
        });
        const message = stderr.toString();
        expect([exitCode, message]).toEqual([
          1,
          expect.stringMatching(/^transcribe: can't work in .* full.*TMPDIR=DIRECTORY\n$/),
        ]);
        expect(message).toContain(disk);
        expect(readdirSync(disk)).toEqual([]);
      });
    },
    60_000,
  );
});

/** Returns a silent WAV file: 16 kHz, mono, 16 bit. */
function silentWav(samples: number): Uint8Array {
  const bytes = Buffer.concat([wavHeader(samples * 2), Buffer.alloc(samples * 2)]);
  return new Uint8Array(bytes);
}
