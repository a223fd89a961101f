import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { available, ffmpegPath } from "../../../../harness/checkout.ts";
import { waveHeader } from "../../../../harness/media.ts";
import { resultOf } from "../../../../harness/processes.ts";
import { programCommand } from "../../../../harness/program.ts";
import { environmentWith, lines } from "../../../../harness/server.ts";
import { temporaryDirectory } from "../../../../harness/temporary-directory.ts";
import { type LiveFate, recordingId, ScriptedLive, SECOND } from "../../../support/scripted-live.ts";

// Each command is a separate process, which starts slowly on a busy machine.
setDefaultTimeout(60_000);

const folder = temporaryDirectory();
afterAll(() => folder[Symbol.dispose]());
const temporary = join(folder.path, "tmp");
mkdirSync(temporary);

/** Returns sound in which each sample is different from its neighbours. */
function soundOf(seconds: number): Buffer {
  return Buffer.from(Int16Array.from({ length: 16_000 * seconds }, (_, index) => (index * 7919) % 30_011).buffer);
}

function recordingOf(name: string, seconds: number): string {
  const path = join(folder.path, name);
  const sound = soundOf(seconds);
  writeFileSync(path, Buffer.concat([waveHeader({ channels: 1, rateHz: 16_000, claimedBytes: sound.length }), sound]));
  return path;
}

/** Starts `transcribe live` with a scripted server. */
function start<Input extends Buffer | "pipe" = "pipe">(
  server: ScriptedLive,
  args: readonly string[],
  options: { stdin?: Input; path?: string } = {},
) {
  const own = {
    TRANSCRIBE_SERVER: server.origin,
    TRANSCRIBE_API_KEY: server.key,
    TMPDIR: temporary,
    HOME: folder.path,
  };
  const child = Bun.spawn(programCommand("live", ...args), {
    env: environmentWith({ ...own, ...(options.path === undefined ? {} : { PATH: options.path }) }),
    stdin: options.stdin ?? "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  return child;
}

/** Runs `transcribe live` until it ends. */
async function run(server: ScriptedLive, args: readonly string[], options: { stdin?: Buffer; path?: string } = {}) {
  const result = await resultOf(start(server, args, options));
  expect(readdirSync(temporary)).toEqual([]);
  expect(result.stderr).not.toMatch(/\n\s+at |\.ts:/);
  return result;
}

function serverWith(...fates: LiveFate[]): ScriptedLive {
  const server = new ScriptedLive();
  server.fates.push(...fates);
  return server;
}

const spoken = [
  " 0:00.0 – 0:03.0   S1  Segment 0.",
  " 0:03.0 – 0:06.0   S2  Segment 1.",
  " 0:06.0 – 0:07.0   S1  Segment 2.",
  `recording ${recordingId}`,
];

describe.if(available("tests of live sessions with recordings", ffmpegPath))("live with a recording", () => {
  test("prints the words with time and speaker, and the id of the recording", async () => {
    using server = serverWith();
    const path = recordingOf("Team meeting.wav", 7);
    const { exitCode, stdout, stderr } = await run(server, [path, "--fast", "--language", "en", "--prompt", "Zoë"]);
    expect([exitCode, stderr, stdout.trimEnd().split("\n")]).toEqual([0, "", spoken]);
    const { query, sound } = server.session;
    const format = { sample_rate: "16000", encoding: "pcm16" };
    expect(query).toEqual({ ...format, language: "en", prompt: "Zoë", keep: "true", name: "Team meeting" });
    expect(sound.equals(soundOf(7))).toBe(true);
  });

  test("sends it in pieces as it plays", async () => {
    using server = serverWith();
    const { exitCode } = await run(server, [recordingOf("short.wav", 1), "--no-keep", "--name", "Short"]);
    expect(exitCode).toBe(0);
    expect(server.session.frames).toBeGreaterThan(4);
    expect(server.session.query).toMatchObject({ keep: "false", name: "Short" });
  });

  test("prints the events as lines of JSON, and no id of a recording that is not kept", async () => {
    using server = serverWith();
    const { stdout } = await run(server, [recordingOf("json.wav", 4), "--fast", "--json", "--no-keep"]);
    const events = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events[0]).toMatchObject({ type: "session", id: server.session.id, keep: false });
    expect(events.filter(({ type }) => type === "final").map(({ segment }) => segment.text)).toEqual([
      "Segment 0.",
      "Segment 1.",
    ]);
    expect(events.at(-1)).toEqual({ type: "ended", reason: "client", recording_id: null });
    const other = await run(server, [recordingOf("plain.wav", 1), "--fast", "--no-keep"]);
    expect(other.stdout).not.toContain("recording");
  });

  test("resumes after the connection was lost", async () => {
    using server = serverWith(
      { closeAt: 4 * SECOND, muteAt: 3 * SECOND, forget: 640 },
      { closeAt: 5 * SECOND, code: 1001 },
    );
    const { exitCode, stdout } = await run(server, [recordingOf("lost.wav", 7), "--fast"]);
    expect([exitCode, stdout.trimEnd().split("\n")]).toEqual([0, spoken]);
    expect(server.session.sound.equals(soundOf(7))).toBe(true);
    expect(server.session.resumes).toHaveLength(2);
  });

  test("ends the session when it is interrupted, prints the id, and says that the rest was not sent", async () => {
    using server = serverWith();
    const child = start(server, [recordingOf("long.wav", 40), "--json"]);
    let ended = "";
    for await (const line of lines(child.stdout)) {
      if (line.includes('"partial"')) child.kill("SIGINT");
      ended = line;
    }
    expect(JSON.parse(ended)).toEqual({ type: "ended", reason: "client", recording_id: recordingId });
    expect(await child.exited).toBe(130);
    expect(await new Response(child.stderr).text()).toBe(
      "transcribe: interrupted; the rest of the recording was not sent\n",
    );
    expect(server.session.messages.map(({ message }) => message.type)).toEqual(["end"]);
    expect(server.session.sound.length).toBeLessThan(40 * SECOND);
  });

  test("that is none is refused before a session is opened", async () => {
    using server = serverWith();
    const path = join(folder.path, "text.wav");
    writeFileSync(path, "no sound");
    const { exitCode, stderr } = await run(server, [path]);
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/^transcribe: .*text\.wav: .+\n$/)]);
    const missing = await run(server, [join(folder.path, "none.wav")]);
    expect([missing.exitCode, missing.stderr]).toEqual([1, expect.stringContaining("there is no file")]);
    expect(server.sessions).toEqual([]);
  });

  test.each<[string, LiveFate, number, RegExp]>([
    ["places", { refuse: { status: 503, error: "service_unavailable" } }, 4, /503, service_unavailable: Refused/],
    ["permission", { refuse: { status: 403, error: "insufficient_scope" } }, 5, /403, insufficient_scope/],
    ["sessions", { refuse: { status: 404, error: "not_found" } }, 1, /it is older, or live\.enabled is off/],
    [
      "patience",
      { closeAt: SECOND, code: 1009, reason: "Too\u0007 large." },
      1,
      /was closed \(1009\): Too {2}large\.$/m,
    ],
  ])("reports a server without %s", async (_, fate, code, message) => {
    using server = serverWith(fate);
    const { exitCode, stderr } = await run(server, [recordingOf("refused.wav", 2), "--fast"]);
    expect([exitCode, stderr]).toEqual([code, expect.stringMatching(message)]);
  });

  test.each<[string, number, RegExp]>([
    ["audio_used_up", 1, /allowance is used up/],
    ["access", 5, /the key may no longer use the server/],
    ["engine", 3, /could not recognize the sound/],
    ["later_reason", 1, /ended the session \(later_reason\)/],
  ])("reports the end of a session for the reason %s, after its words", async (reason, code, message) => {
    using server = serverWith();
    server.endReason = reason;
    const { exitCode, stdout, stderr } = await run(server, [recordingOf("ended.wav", 7), "--fast"]);
    expect([exitCode, stdout.trimEnd().split("\n"), stderr]).toEqual([code, spoken, expect.stringMatching(message)]);
  });
});

describe("live with standard input", () => {
  test("sends raw sound of the named format", async () => {
    using server = serverWith();
    const args = ["-", "--fast", "--encoding", "mulaw", "--sample-rate", "8000"];
    const { exitCode } = await run(server, args, { stdin: Buffer.from("raw sound") });
    expect([exitCode, server.session.sound.toString()]).toEqual([0, "raw sound"]);
    expect(server.session.query).toEqual({ encoding: "mulaw", sample_rate: "8000", keep: "true" });
  });

  test("sends WAV in its own format", async () => {
    using server = serverWith();
    const header = waveHeader({ channels: 1, rateHz: 44_100, claimedBytes: 0xffff_ffff });
    const { exitCode } = await run(server, ["-"], { stdin: Buffer.concat([header, Buffer.from("sound.")]) });
    expect([exitCode, server.session.sound.toString()]).toEqual([0, "sound."]);
    expect(server.session.query).toEqual({ encoding: "pcm16", sample_rate: "44100", keep: "true" });
  });

  test("that is empty is refused", async () => {
    using server = serverWith();
    const { exitCode, stderr } = await run(server, ["-"], { stdin: Buffer.alloc(0) });
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("standard input is empty")]);
    expect(server.sessions).toEqual([]);
  });

  test("ends the session when it is interrupted, with exit code 0: it has no other end", async () => {
    using server = serverWith();
    const child = start(server, ["-", "--json"]);
    child.stdin.write(soundOf(2));
    await child.stdin.flush();
    for await (const line of lines(child.stdout)) if (line.includes('"partial"')) child.kill("SIGINT");
    expect([await child.exited, await new Response(child.stderr).text()]).toEqual([0, ""]);
    expect(server.session.messages.map(({ message }) => message.type)).toEqual(["end"]);
  });
});

test("live exits when the server ends the session, although more sound may follow", async () => {
  using server = serverWith({ says: JSON.stringify({ type: "ended", reason: "idle", recording_id: recordingId }) });
  const child = start(server, ["-"]);
  child.stdin.write(soundOf(1));
  await child.stdin.flush();
  expect([await child.exited, await new Response(child.stderr).text()]).toEqual([
    1,
    "transcribe: the session has ended: no sound arrived for too long\n",
  ]);
});

describe("live with a microphone", () => {
  /** Writes programs in place of recorders. @returns the search path with them */
  function recorders(name: string, programs: Readonly<Record<string, string>>): string {
    const path = join(folder.path, name);
    mkdirSync(path);
    for (const [program, script] of Object.entries(programs)) {
      writeFileSync(join(path, program), `#!/bin/sh\necho "$*" >> ${path}/calls\n${script}\n`);
      chmodSync(join(path, program), 0o755);
    }
    return path;
  }
  const speaks = "/usr/bin/head -c 96000 /dev/zero";
  const callsOf = (path: string) => readFileSync(join(path, "calls"), "utf8").trimEnd().split("\n");

  test("records with PipeWire's recorder, of versions with and without an option for raw sound", async () => {
    using server = serverWith();
    const old = recorders("old", { "pw-record": speaks });
    expect((await run(server, [], { path: old })).exitCode).toBe(0);
    expect(callsOf(old)).toEqual(["--help", "--rate 16000 --channels 1 --format s16 -"]);
    const help = `[ "$1" = --help ] && echo "  -a, --raw  RAW mode" && exit`;
    const later = recorders("later", { "pw-record": `${help}\n${speaks}` });
    const { exitCode, stdout } = await run(server, ["--device", "usb mic"], { path: later });
    expect([exitCode, stdout]).toEqual([0, `${spoken[0]}\nrecording ${recordingId}\n`]);
    expect(callsOf(later).at(-1)).toBe("--raw --rate 16000 --channels 1 --format s16 --target usb mic -");
    expect(server.sessions.map(({ sound }) => sound.length)).toEqual([96_000, 96_000]);
  });

  test("takes the next installed recorder when one gives no sound", async () => {
    using server = serverWith();
    const path = recorders("two", { "pw-record": "echo 'no PipeWire' >&2; exit 1", arecord: speaks });
    expect((await run(server, ["--device", "hw:1"], { path })).exitCode).toBe(0);
    expect(callsOf(path).at(-1)).toBe("-q -t raw -f S16_LE -r 16000 -c 1 -D hw:1");
  });

  test("names the recorders that it needs, or what they say", async () => {
    using server = serverWith();
    const none = await run(server, [], { path: recorders("none", {}) });
    expect([none.exitCode, none.stderr]).toEqual([1, expect.stringContaining("pw-record, parec, arecord")]);
    const programs = { parec: "echo 'no server\u001b[2J' >&2; exit 1", arecord: "exit 2" };
    const failed = await run(server, [], { path: recorders("failed", programs) });
    expect([failed.exitCode, failed.stderr]).toEqual([
      1,
      "transcribe: no sound from the microphone; parec: no server�[2J; arecord: it gives none (exit code 2)\n",
    ]);
    expect(server.sessions).toEqual([]);
  });

  test("ends the session when the recorder fails, and repeats its message", async () => {
    using server = serverWith();
    const path = recorders("fails", { parec: `${speaks}; echo 'unplugged' >&2; exit 1` });
    const { exitCode, stdout, stderr } = await run(server, [], { path });
    expect([exitCode, stderr]).toEqual([1, "transcribe: parec stopped: unplugged\n"]);
    expect(stdout).toContain("Segment 0.");
    expect(server.session.messages.map(({ message }) => message.type)).toEqual(["end"]);
  });

  test("stops the recorder when it is interrupted, with exit code 0", async () => {
    using server = serverWith();
    const path = recorders("endless", { parec: `${speaks}; exec /usr/bin/sleep 600` });
    const child = start(server, ["--json"], { path });
    for await (const line of lines(child.stdout)) if (line.includes('"partial"')) child.kill("SIGINT");
    expect([await child.exited, await new Response(child.stderr).text()]).toEqual([0, ""]);
  });
});
