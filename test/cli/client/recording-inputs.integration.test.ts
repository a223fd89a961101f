import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { available, ffmpegPath, samplePath } from "../../../harness/checkout.ts";
import { resultOf } from "../../../harness/processes.ts";
import { programCommand } from "../../../harness/program.ts";
import { environmentWith } from "../../../harness/server.ts";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { BadNetwork, refusal } from "../../support/bad-network.ts";
import { ApiServer } from "../../support/http.ts";

// Each command is a separate process, which starts slowly on a busy machine.
setDefaultTimeout(60_000);

const jfk = samplePath("jfk.mp3");
const spoken = [{ index: 0, startSeconds: 0.3, endSeconds: 2, speaker: 0, text: "Ask not.", words: [] }];

interface Outcome {
  readonly input: string;
  readonly transcription: { readonly id: string; readonly source: { readonly name: string } } | null;
  readonly output: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

describe.if(available("tests of the inputs of submit", jfk, ffmpegPath))("submit", () => {
  const server = new ApiServer({ recordingsPerAccount: 100 });
  const network = new BadNetwork(() => server.origin);
  const directory = temporaryDirectory();
  const temporary = join(directory.path, "tmp");
  let origin = "";
  beforeAll(async () => {
    origin = await network.listen();
    mkdirSync(temporary);
  });
  beforeEach(() => {
    network.seen.splice(0);
    network.fates.splice(0);
  });
  afterAll(async () => {
    await network[Symbol.asyncDispose]();
    server[Symbol.dispose]();
    directory[Symbol.dispose]();
  });

  /** Runs `submit` in a shell line, in which `$submit` is the command. The line may use file names of any bytes. */
  async function shell(account: string, line: string, stdin: "ignore" | Blob = "ignore") {
    const { key } = server.client(account);
    const own = { TRANSCRIBE_SERVER: origin, TRANSCRIBE_API_KEY: key, TMPDIR: temporary, HOME: directory.path };
    const child = Bun.spawn(["sh", "-c", `${line.replaceAll("$submit", '"$@" submit')}`, "sh", ...programCommand()], {
      ...{ cwd: directory.path, env: environmentWith(own), stdin, stdout: "pipe", stderr: "pipe" },
    });
    const result = await resultOf(child);
    expect(readdirSync(temporary)).toEqual([]);
    expect(result.stderr).not.toMatch(/\n\s+at |\.ts:/);
    return result;
  }
  /** Completes each recording as soon as it was sent. */
  function worker(): Disposable {
    const timer = setInterval(() => {
      for (const id of server.queued.splice(0)) {
        server.recordings.claim(id);
        server.recordings.describe(id, { durationSeconds: 11, language: "en" });
        server.recordings.complete(id, spoken);
      }
    }, 20);
    return { [Symbol.dispose]: () => clearInterval(timer) };
  }
  const outcomesOf = (stdout: string) => JSON.parse(stdout) as Outcome[];
  const creates = () => network.seen.filter(({ method }) => method === "POST");

  describe("of files whose names are not UTF-8", () => {
    beforeAll(() => {
      const folder = Buffer.concat([Buffer.from(`${directory.path}/`), Buffer.from("fólder", "latin1")]);
      mkdirSync(folder);
      for (const name of ["Gespräch.mp3", "Geschäft.mp3", "Gesch\u00ffft.mp3"]) {
        writeFileSync(Buffer.concat([folder, Buffer.from("/"), Buffer.from(name, "latin1")]), readFileSync(jfk));
      }
      writeFileSync(join(directory.path, "plain ü.mp3"), readFileSync(jfk));
    });

    test("sends all that a pattern of the shell names, with readable names", async () => {
      const { exitCode, stdout, stderr } = await shell("pattern", '$submit --json f*/*.mp3 "plain ü.mp3"');
      expect([exitCode, stderr]).toEqual([0, ""]);
      const outcomes = outcomesOf(stdout);
      expect(outcomes.map(({ input }) => input)).toEqual([
        ...[
          "f\u{fffd}lder/Gesch\u{fffd}ft.mp3",
          "f\u{fffd}lder/Gesch\u{fffd}ft.mp3",
          "f\u{fffd}lder/Gespr\u{fffd}ch.mp3",
        ],
        "plain ü.mp3",
      ]);
      const names = outcomes.map(({ transcription }) => transcription?.source.name);
      expect(names).toEqual(["Gesch\u{fffd}ft", "Gesch\u{fffd}ft", "Gespr\u{fffd}ch", "plain ü"]);
    });

    test("writes each transcript under its own name", async () => {
      using _ = worker();
      const { exitCode, stderr } = await shell("named", "cd f*; $submit *.mp3 --format srt -o ./ --every 0.1");
      expect([exitCode, stderr]).toEqual([0, ""]);
      const [folder = Buffer.of()] = readdirSync(directory.path, "buffer").filter((name) => name[0] === 0x66);
      const path = Buffer.concat([Buffer.from(`${directory.path}/`), folder]);
      const written = readdirSync(path, "buffer").map((name) => name.toString("latin1"));
      expect(written.filter((name) => name.endsWith(".srt")).sort()).toEqual(
        ["Gespräch.srt", "Geschäft.srt", "Gesch\u00ffft.srt"].sort(),
      );
    });

    test("sends a file again after a lost connection", async () => {
      network.fates.push("break");
      const { exitCode, stderr } = await shell("again", "$submit f*/Gespr*.mp3");
      expect([exitCode, stderr, creates().length]).toEqual([0, "", 2]);
      expect(new Set(creates().map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
    });

    test("reports a file that does not exist with a readable name", async () => {
      const { exitCode, stdout, stderr } = await shell("missing", `$submit "$(printf 'no\\344.mp3')"`);
      expect([exitCode, stdout, stderr]).toEqual([1, "", "transcribe: there is no file no\u{fffd}.mp3\n"]);
    });
  });

  describe("of standard input", () => {
    test("sends a pipe of unknown length, with a name", async () => {
      const { exitCode, stdout, stderr } = await shell("piped", `cat ${jfk} | $submit - --json --name "Mond 1.mp3"`);
      expect([exitCode, stderr]).toEqual([0, ""]);
      const [outcome] = outcomesOf(stdout);
      expect([outcome?.input, outcome?.transcription?.source.name]).toEqual(["-", "Mond 1"]);
    });

    test("sends it again, as one recording, when the connection breaks or the rate limit is used up", async () => {
      network.fates.push("break", refusal(429, "rate_limited", { "Retry-After": "0" }), "lose the answer");
      const { exitCode, stdout, stderr } = await shell("retried", `cat ${jfk} | $submit -`);
      expect([exitCode, stderr, creates().length]).toEqual([0, "", 4]);
      expect(new Set(creates().map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
      const page = (await (await server.client("retried").fetch("/transcriptions")).json()) as {
        data: { id: string }[];
      };
      expect(page.data.map(({ id }) => `${id}\n`)).toEqual([stdout]);
    });

    test("prints and writes its transcript, also together with files", async () => {
      using _ = worker();
      const waited = await shell("waiting", `$submit --wait --every 0.1 - < ${jfk}`);
      expect([waited.exitCode, waited.stdout]).toEqual([0, " 0:00.3 – 0:02.0   A  Ask not.\n"]);
      const args = `${jfk} - --format srt -o out/ --name talk.wav --every 0.1 --json`;
      const { exitCode, stdout } = await shell("files", `cat ${jfk} | $submit ${args}`);
      expect([exitCode, outcomesOf(stdout).map(({ output }) => output)]).toEqual([0, ["out/jfk.srt", "out/talk.srt"]]);
      expect(readdirSync(join(directory.path, "out")).sort()).toEqual(["jfk.srt", "talk.srt"]);
    });

    test.each([
      ["empty", 1, "true | $submit -", "standard input is empty; pipe a recording into the command"],
      ["closed", 1, "$submit - <&-", "standard input is empty"],
      ["a directory", 1, "$submit - < /", "can't read standard input"],
      ["read twice", 2, `cat ${jfk} | $submit - -`, "write - once"],
      ["no recording", 1, "echo text | $submit -", "422"],
    ])("that is %s is refused with a sentence", async (_, code, line, message) => {
      const { exitCode, stdout, stderr } = await shell("refused", line);
      expect([exitCode, stdout]).toEqual([code, ""]);
      expect(stderr).toMatch(/^transcribe: .+\n$/);
      expect(stderr).toContain(message);
    });

    test("that is a terminal is refused", async () => {
      const line = `script -qec "$* submit -" /dev/null < /dev/null`;
      const { exitCode, stdout } = await shell("terminal", line);
      expect([exitCode, stdout]).toEqual([
        2,
        expect.stringMatching(/^transcribe: standard input is a terminal; .+\r\n$/),
      ]);
    });

    test("is no longer stored after Ctrl-C while it arrives", async () => {
      const { key } = server.client("stopped");
      const own = { TRANSCRIBE_SERVER: origin, TRANSCRIBE_API_KEY: key, TMPDIR: temporary };
      const child = Bun.spawn(programCommand("submit", "-"), {
        ...{ env: environmentWith(own), stdin: "pipe", stdout: "pipe", stderr: "pipe" },
      });
      child.stdin.write(new Uint8Array(100_000));
      await child.stdin.flush();
      const isOpen = () =>
        readdirSync(`/proc/${child.pid}/fd`).length > 0 && network.seen.some(({ path }) => path.endsWith("/languages"));
      while (!isOpen()) await Bun.sleep(20);
      child.kill("SIGINT");
      expect(await child.exited).toBe(130);
      expect(await new Response(child.stderr).text()).toBe(
        "transcribe: interrupted; nothing continues on the server\n",
      );
      expect([readdirSync(temporary), creates()]).toEqual([[], []]);
    });
  });

  test("takes a file whose name begins with a hyphen after --", async () => {
    writeFileSync(join(directory.path, "-x.mp3"), readFileSync(jfk));
    const { exitCode, stderr } = await shell("hyphen", "$submit -- -x.mp3");
    expect([exitCode, stderr]).toEqual([0, ""]);
  });
});
