import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { startTimeout, TestServer } from "../../../harness/server.ts";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { tinyRecognizer } from "../../support/tiny-recognizer.ts";

const directory = temporaryDirectory();
const file = join(directory.path, "transcribe.toml");
const server = new TestServer({ ...tinyRecognizer(), TRANSCRIBE_CONFIG: file });
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  directory[Symbol.dispose]();
});

/** Writes the file, sends SIGHUP, and returns the next log lines about settings. */
async function reload(toml: string, lines = 1) {
  await Bun.write(file, toml);
  const before = server.log.length;
  const found = () => server.log.slice(before).filter(({ event }) => event.startsWith("settings."));
  process.kill(server.pid, "SIGHUP");
  await server.until(() => found().length >= lines);
  return found();
}

test(
  "a running server reloads its settings on SIGHUP, and an invalid file changes nothing",
  server.showingLog(async () => {
    await Bun.write(file, "[limits]\nfailed_authentications_per_minute = 1\n");
    await server.start();
    const strangers = async (count: number) => {
      const answers = Array.from({ length: count }, () => fetch(`${server.baseUrl}/transcriptions`));
      return (await Promise.all(answers)).map(({ status }) => status).sort();
    };
    expect(await strangers(2)).toEqual([401, 429]);

    expect(await reload("[limits]\nfailed_authentications_per_minute = 3\n[queue]\nslots = 2\n")).toMatchObject([
      { event: "settings.reloaded", changed: ["queue.slots", "limits.failed_authentications_per_minute"] },
    ]);
    expect(await strangers(3)).toEqual([401, 401, 429]);

    expect(await reload("[limits]\nfailed_authentications_per_minute = 9\n[queue]\nslots = 'two'\n")).toMatchObject([
      { event: "settings.not_reloaded", faults: [expect.stringContaining(`${file}:4:1: queue.slots: `)] },
    ]);
    expect(await strangers(1)).toEqual([429]);

    expect(await reload("[engine]\nthreads = 1\n[fetch]\nallow = ['10.0.0.0/99']\n")).toMatchObject([
      { event: "settings.not_reloaded", faults: [expect.stringContaining(`${file}:4:1: fetch.allow: `)] },
    ]);
    expect(await reload("[engine]\nthreads = 1\n", 2)).toMatchObject([
      { event: "settings.reloaded" },
      { event: "settings.need_restart", settings: ["engine.threads"] },
    ]);
    expect(await server.stop()).toBe(0);
  }),
  startTimeout,
);
