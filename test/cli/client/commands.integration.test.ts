import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { available, ffmpegPath, samplePath } from "../../../harness/checkout.ts";
import type { Transcription } from "../../../harness/contract.ts";
import { programCommand } from "../../../harness/program.ts";
import { runCli } from "../../../harness/server.ts";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { ApiServer } from "../../support/http.ts";
import { runHere } from "../run-here.ts";

setDefaultTimeout(180_000);

const jfk = samplePath("jfk.mp3");
const nowhere = Bun.randomUUIDv7();
const spoken = [{ index: 0, startSeconds: 0.3, endSeconds: 2, speaker: 0, text: "Ask \x1b[2Jnot.", words: [] }];

interface Outcome {
  readonly input: string;
  readonly transcription: Transcription | null;
  readonly segments: object[] | null;
  readonly output: string | null;
  readonly error: { code: string; message: string } | null;
}

describe.if(available("tests of the client's commands", jfk, ffmpegPath))("a client command", () => {
  const server = new ApiServer({ recordingsPerAccount: 100 });
  const home = temporaryDirectory();
  afterAll(() => {
    server[Symbol.dispose]();
    home[Symbol.dispose]();
  });

  const as = (account: string) => {
    const { key, accountId } = server.client(account);
    const environment = { HOME: home.path, TRANSCRIBE_SERVER: server.origin, TRANSCRIBE_API_KEY: key };
    return { accountId, run: (...args: string[]) => runHere(args, environment) };
  };
  const requests = () => server.log.filter(({ event }) => event === "http.request").length;
  /** Completes or fails each recording as soon as it was sent. */
  const worker = (fails = false, begins = () => true) => {
    const timer = setInterval(() => {
      if (!begins()) return;
      for (const id of server.queued.splice(0)) {
        server.recordings.claim(id);
        server.recordings.describe(id, { durationSeconds: 11, language: "en" });
        if (fails) server.recordings.fail(id, { reason: "no_speech" });
        else server.recordings.complete(id, spoken);
      }
    }, 20);
    return { [Symbol.dispose]: () => clearInterval(timer) };
  };

  test("submit prints the ids at once, list shows them newest first, and watch follows them until they are completed", async () => {
    const { run } = as("first");
    const sent = await run("submit", jfk, jfk);
    expect([sent.exitCode, sent.stderr]).toEqual([0, ""]);
    const ids = sent.stdout.trim().split("\n");
    expect(ids).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    const listed = await run("list", "--status", "queued");
    expect(
      listed.stdout
        .split("\n")
        .slice(1, 3)
        .map((line) => line.split(" ")[0]),
    ).toEqual(ids.toReversed());

    // The command lists the open recordings and polls each before any is completed.
    const before = requests();
    using _ = worker(false, () => requests() >= before + 4);
    const watched = await run("watch", "--every", "0.1");
    expect([watched.exitCode, watched.stderr]).toEqual([0, ""]);
    expect(watched.stdout.trim().split("\n").sort()).toEqual(ids.map((id) => `${id}  completed  jfk`).sort());
    const again = await run("watch", "--json");
    expect([again.exitCode, JSON.parse(again.stdout), again.stderr]).toEqual([0, [], ""]);
  });

  test("submit continues after a bad file: it reports each error, writes the good transcripts, and exits with 1", async () => {
    const { run } = as("several");
    using directory = temporaryDirectory();
    const text = join(directory.path, "notes.txt");
    await Bun.write(text, "no recording");
    using _ = worker();
    const place = `${directory.path}/out/`;
    const args = ["submit", text, jfk, "/no/such.mp3", "--format", "srt", "-o", place, "--every", "0.1", "--json"];
    const { exitCode, stdout, stderr } = await run(...args);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("2 of 3 recordings failed");
    const outcomes = JSON.parse(stdout) as Outcome[];
    expect(outcomes.map(({ input, output, error }) => [input, output, error?.code ?? null])).toEqual([
      [text, null, "validation_failed"],
      [jfk, `${place}jfk.srt`, null],
      ["/no/such.mp3", null, "local"],
    ]);
    expect(outcomes[1]?.transcription?.status).toBe("completed");
    expect(readdirSync(place)).toEqual(["jfk.srt"]);
    expect(readFileSync(`${place}jfk.srt`, "utf8")).toContain("-->");

    const refused = await run(...args);
    expect([refused.exitCode, refused.stdout]).toEqual([1, ""]);
    expect(refused.stderr).toContain("--force");
  });

  test("submit exits with 3 after a failed recording, and prints the reason", async () => {
    const { run } = as("failing");
    using _ = worker(true);
    const { exitCode, stdout, stderr } = await run("submit", "--wait", "--every", "0.1", jfk);
    expect([exitCode, stdout]).toEqual([3, ""]);
    expect(stderr).toContain("the recording contains no speech");
  });

  test("submit --wait prints the transcript without control characters of a terminal", async () => {
    const { run } = as("waiting");
    using _ = worker();
    const { exitCode, stdout, stderr } = await run("submit", "--wait", "--every", "0.1", jfk);
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(stdout).toBe(" 0:00.3 – 0:02.0   A  Ask \u{fffd}[2Jnot.\n");
  });

  test("Ctrl-C leaves the recording on the server, and prints how to follow it", async () => {
    const { run, accountId } = as("interrupted");
    const environment = { TRANSCRIBE_SERVER: server.origin, TRANSCRIBE_API_KEY: server.client("interrupted").key };
    const child = Bun.spawn(programCommand("submit", "--wait", "--every", "0.1", jfk), {
      env: { ...process.env, ...environment },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const isFollowed = () => {
      const path = `/api/public/v1/transcriptions/${server.idsOf(accountId)[0]}`;
      return server.log.some((line) => line.event === "http.request" && line.method === "GET" && line.path === path);
    };
    while (!isFollowed() && child.exitCode === null) await Bun.sleep(20);
    child.kill("SIGINT");
    expect(await child.exited).toBe(130);
    const [id] = server.idsOf(accountId);
    expect(await new Response(child.stderr).text()).toContain(`transcribe watch ${id}\n`);
    expect((await run("get", id ?? "", "--json")).stdout).toContain('"status": "queued"');
  });

  describe("for existing recordings", () => {
    let ids: string[] = [];
    const { run, accountId } = as("reader");
    beforeAll(() => {
      ids = Array.from({ length: 130 }, () => server.enterCompleted(accountId, 1));
    });

    test("list prints as many recordings as requested, over all pages", async () => {
      for (const [args, count] of [
        [[], 20],
        [["--limit", "110"], 110],
        [["--all"], 130],
        [["--status", "failed"], 0],
      ] as const) {
        const { exitCode, stdout } = await run("list", "--json", ...args);
        const listed = (JSON.parse(stdout) as { id: string }[]).map(({ id }) => id);
        expect([exitCode, listed]).toEqual([0, ids.toReversed().slice(0, count)]);
      }
    });

    test("get prints the recording, with --segments its transcript", async () => {
      const id = ids[0] ?? "";
      const shown = await run("get", id);
      expect(shown.stdout).toMatch(/^status +completed$/m);
      expect(shown.stdout).not.toContain("Segment 0.");
      expect((await run("get", id, "--segments")).stdout).toContain("A  Segment 0.");
      const json = JSON.parse((await run("get", id, "--segments", "--json")).stdout) as Record<string, unknown>;
      expect([json.id, json.segments]).toEqual([
        id,
        [{ index: 0, start: 0, end: 0.9, speaker: "A", text: "Segment 0." }],
      ]);
    });

    test("export prints the transcript, or writes the format of the file's extension", async () => {
      using directory = temporaryDirectory();
      const id = ids[0] ?? "";
      expect((await run("export", id, "--format", "vtt")).stdout).toStartWith("WEBVTT");
      const path = join(directory.path, "talk.docx");
      expect(await run("export", id, "-o", path)).toEqual({ exitCode: 0, stdout: "", stderr: "" });
      expect(readFileSync(path).subarray(0, 2).toString()).toBe("PK");
      const { stdout } = await run("export", id, "--format", "json");
      expect(JSON.parse(stdout)).toMatchObject({ recording: { id } });
      await run("export", id, "--format", "textgrid", "-o", `${directory.path}/`);
      expect(readFileSync(join(directory.path, `${id}.TextGrid`), "utf8")).toStartWith("File type = ");
    });

    test("delete accepts several ids, and reports each that it could not delete", async () => {
      const open = server.enterQueued(accountId);
      const gone = ids.slice(-2);
      const { exitCode, stdout, stderr } = await run("delete", ...gone, open, nowhere);
      expect([exitCode, stdout]).toEqual([1, gone.map((id) => `deleted ${id}\n`).join("")]);
      expect(stderr).toContain(`${open}: the server answered 409, transcription_still_processing`);
      expect(stderr).toContain(`${nowhere}: the server answered 404`);
      expect(JSON.parse((await run("delete", ids[0] ?? "", "--json")).stdout)).toEqual([
        { id: ids[0], deleted: true, error: null },
      ]);
    });

    const refusals: [number, string[], string][] = [
      [1, ["get", nowhere], "404"],
      [2, ["get", "../languages"], "'id'. It takes an id"],
      [1, ["watch", nowhere], "404"],
      [2, ["list", "--status", "done"], "queued, processing, completed, failed"],
      [2, ["list", "--limit", "0"], "--limit"],
      [2, ["export", nowhere, "--format", "mp3"], "--format"],
      [2, ["list", "--server", "transcribe.example.org"], "https://"],
      [2, ["list", "--server", "http://user:secret@example.org"], "https://transcribe.example.org"],
      [2, ["list", "--key", "trs_x"], "--key"],
      [
        4,
        ["list", "--server", "http://127.0.0.1:1"],
        "no answer from http://127.0.0.1:1/api/public/v1: nothing listens there\n",
      ],
      [2, ["submit", jfk, "--json", "-o", "-"], "-o PATH"],
      [2, ["submit", jfk, "--every", "0"], "--every"],
    ];
    test("a refused command prints the reason, with the exit code of its kind", async () => {
      const results = await Promise.all(refusals.map(([, args]) => run(...args)));
      for (const [index, [code, args, says]] of refusals.entries()) {
        const { exitCode, stdout, stderr = "" } = results[index] ?? {};
        expect([args, exitCode, stdout]).toEqual([args, code, ""]);
        expect(stderr).toContain(says);
        expect(stderr).not.toMatch(/\n\s+at |trs_[0-9A-Za-z]{40}|secret@/);
      }
    });
  });

  test("an invalid key exits with 5, and stops a batch before anything is sent", async () => {
    const environment = { HOME: home.path, TRANSCRIBE_SERVER: server.origin, TRANSCRIBE_API_KEY: "trs_wrong" };
    const { exitCode, stdout, stderr } = await runHere(["submit", jfk, jfk], environment);
    expect([exitCode, stdout]).toEqual([5, ""]);
    expect(stderr).toContain("invalid_api_key");
    expect(stderr).not.toContain(".;");
    expect((await runHere(["list"], { ...environment, TRANSCRIBE_API_KEY: "" })).exitCode).toBe(5);
    for (const command of ["watch", "delete"]) {
      const refused = await runHere([command, nowhere, Bun.randomUUIDv7()], environment);
      expect([refused.exitCode, refused.stderr.split("\n").length]).toEqual([5, 2]);
    }
  });

  test("a server without this API exits with 4, and its response is not printed", async () => {
    const answers = [
      () => new Response("\x1b[2J<html>", { status: 200 }),
      () => new Response("{}", { status: 404 }),
      () => Response.redirect("https://elsewhere.example.org/", 301),
      () => Response.json({ data: [{ id: 1 }], has_more: true, next_cursor: "" }),
    ];
    for (const answer of answers) {
      const stranger = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: answer });
      const { exitCode, stdout, stderr } = await as("stranger").run("list", "--server", `${stranger.url.origin}/`);
      await stranger.stop(true);
      expect([exitCode, stdout]).toEqual([4, ""]);
      expect(stderr).not.toContain("\x1b");
    }
  });

  test("a proxy of the environment is used for other machines, and never for this one", async () => {
    const asked: string[] = [];
    using proxy = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: (request) => {
        asked.push(new URL(request.url).hostname);
        return new Response("", { status: 404 });
      },
    });
    const environment = { HOME: home.path, TRANSCRIBE_API_KEY: server.client("proxied").key };
    const proxied = {
      ...environment,
      HTTP_PROXY: proxy.url.origin,
      http_proxy: proxy.url.origin,
      no_proxy: "x.test",
    };
    const direct = await runCli(["list", "--json", "--server", server.origin], proxied);
    expect([direct.exitCode, direct.stdout, asked]).toEqual([0, "[]\n", []]);
    const far = await runCli(["list", "--server", "http://transcribe.test"], proxied);
    expect([far.exitCode, asked]).toEqual([4, ["transcribe.test"]]);
  });
});
