import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { resultOf } from "../../harness/processes.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { defaultCacheRoot } from "../../native/build.ts";
import { npmClients, testPackages } from "../../tools/development/test-packages.ts";
import { installNpmPackages } from "../../tools/shared/npm.ts";
import { installPythonPackages } from "../../tools/shared/python.ts";
import { CommandError } from "../../tools/shared/run-command.ts";
import { type LiveFate, recordingId, ScriptedLive, SECOND } from "../support/scripted-live.ts";
import { installPythonSdk, installTypescriptSdk, type SdkRuntime, writeScript } from "../support/sdk.ts";

/** Installing, on a machine that also runs a build. */
setDefaultTimeout(180_000);

interface Outcome {
  readonly finals: string[];
  readonly speakers: string[];
  readonly connection: string[];
  readonly partials: number;
  readonly other: string[];
  readonly last: unknown;
  readonly failures: unknown[];
}

interface Scenario {
  readonly fates?: readonly LiveFate[];
  readonly seconds?: number;
  readonly endReason?: string;
  readonly check: (outcome: Outcome, server: ScriptedLive, seconds: number) => void;
}

const outcomesSchema = Type.Array(
  Type.Object({ outcome: Type.Optional(Type.Unknown()), failure: Type.Optional(Type.String()) }),
);
const connected = ["session"];
const resumed = ["session", "disconnected", "session"];
const ended = { type: "ended", reason: "client", recording_id: recordingId };

/** Checks that the client got each word once, and the server all sound. */
function expectComplete({ finals, speakers, last, failures }: Outcome, server: ScriptedLive, seconds: number): void {
  const count = Math.ceil(seconds / 3);
  expect(failures).toEqual([]);
  expect(finals).toEqual(Array.from({ length: count }, (_, number) => `Segment ${number}.`));
  expect(speakers).toEqual(Array.from({ length: count }, (_, number) => `${number} S${1 + (number % 2)}`));
  expect(last).toEqual(ended);
  expect(server.session.sound.equals(soundOf(seconds))).toBe(true);
}

function soundOf(seconds: number): Buffer {
  return Buffer.from(Int16Array.from({ length: 16_000 * seconds }, (_, index) => (index * 7919) % 30_011).buffer);
}

const refusal = (status: number, error: string, headers?: Record<string, string>): LiveFate => ({
  refuse: { status, error, headers: headers ?? {} },
});
const apiError = (status: number, code: string, retry_after: number | null = null) => ({
  ...{ name: "ApiError", status, code, retry_after },
});

const scenarios: readonly (readonly [promise: string, name: string, scenario: Scenario])[] = [
  [
    "words arrive while sound is sent, and the end names the recording",
    "words",
    {
      check: (outcome, server, seconds) => {
        expectComplete(outcome, server, seconds);
        expect(outcome.connection).toEqual(connected);
        expect(outcome.partials).toBeGreaterThan(0);
        expect(server.session.query).toEqual({ language: "en", prompt: "Zoë, Ada", name: "Talk & more" });
        expect(server.session.messages.map(({ message }) => message)).toEqual([{ type: "end" }]);
      },
    },
  ],
  [
    "a session that is not kept has no recording",
    "unkept",
    {
      check: ({ last }, { session }) => {
        expect(last).toEqual({ ...ended, recording_id: null });
        expect(session.query).toEqual({ keep: "false" });
      },
    },
  ],
  [
    "messages reach the server between the sound before and after them, and divided samples are joined",
    "messages",
    {
      check: ({ failures, other }, { session }) => {
        expect(failures).toEqual([]);
        expect(session.messages).toEqual([
          { at: 32_000, message: { type: "commit" } },
          { at: 40_000, message: { type: "clear" } },
          { at: 40_000, message: { type: "update", language: null, silence_ms: 700 } },
          { at: 40_000, message: { type: "speaker", speaker: "S1", name: "Anna" } },
          { at: 64_000, message: { type: "end" } },
        ]);
        expect(session.sound.equals(soundOf(2))).toBe(true);
        expect(other).toEqual(["committed", "turn_completed", "cleared", "committed", "turn_completed"]);
      },
    },
  ],
  [
    "a broken connection is resumed with the sound that the server lost, and no word is lost or repeated",
    "words",
    {
      seconds: 12,
      fates: [{ muteAt: 5 * SECOND, closeAt: 8 * SECOND, forget: 1000 }],
      check: (outcome, server, seconds) => {
        expectComplete(outcome, server, seconds);
        expect(outcome.connection).toEqual(resumed);
        expect(server.session.resumes).toEqual([{ resume: server.session.id, from_segment: "1" }]);
      },
    },
  ],
  [
    "a session is resumed after a restart of the server, however often a connection is refused or lost meanwhile",
    "words",
    {
      fates: [
        { closeAt: 4 * SECOND, code: 1001, reason: "The server stops." },
        refusal(503, "service_unavailable"),
        refusal(409, "concurrency_limit"),
        { closeAt: 4 * SECOND },
      ],
      check: (outcome, server, seconds) => {
        expectComplete(outcome, server, seconds);
        expect(outcome.connection).toEqual([...resumed, "disconnected", "session"]);
      },
    },
  ],
  [
    "a session that the server does not know any more ends with its error",
    "words",
    {
      fates: [{ closeAt: SECOND }, refusal(404, "not_found")],
      check: ({ failures, connection }) => {
        expect(connection).toEqual(["session", "disconnected"]);
        expect(new Set(failures.map((each) => JSON.stringify(each)))).toEqual(
          new Set([JSON.stringify(apiError(404, "not_found"))]),
        );
      },
    },
  ],
  [
    "a session that exceeded a limit is resumed once a minute",
    "words",
    {
      fates: [
        { closeAt: 2 * SECOND, code: 1008, reason: "The client reads too slowly." },
        { closeAt: 4 * SECOND, code: 1008, reason: "The client reads too slowly." },
      ],
      check: ({ failures, connection }) => {
        expect(connection).toEqual(resumed);
        expect(failures[0]).toMatchObject({ name: "LiveClosedError", close_code: 1008 });
      },
    },
  ],
  [
    "a session that the server closes for a violation is not resumed",
    "words",
    {
      fates: [{ closeAt: SECOND, code: 1003, reason: "Wrong\u0007 type." }],
      check: ({ failures, connection }) => {
        expect(connection).toEqual(connected);
        expect(failures[0]).toEqual({
          ...{ name: "LiveClosedError", close_code: 1003 },
          text: "the session was closed (1003): Wrong  type.",
        });
      },
    },
  ],
  [
    "an end that is not the client's has its reason",
    "words",
    {
      endReason: "audio_used_up",
      check: ({ last }) => expect(last).toEqual({ ...ended, reason: "audio_used_up" }),
    },
  ],
  [
    "a refusal is an error with the server's code",
    "refused",
    {
      fates: [refusal(503, "service_unavailable", { "Retry-After": "30" })],
      check: (outcome) => expect(outcome as unknown).toEqual(apiError(503, "service_unavailable", 30)),
    },
  ],
  [
    "a server that sends what is no message is refused",
    "refused",
    {
      fates: [{ says: '{"type":"final","turn":"a","segment":{"number":0}}' }],
      check: ({ failures }) => expect(failures).toEqual([{ name: "BadAnswerError" }]),
    },
  ],
  [
    "messages of a later version are ignored",
    "words",
    {
      seconds: 3,
      fates: [{ says: '{"type":"weather","text":"rain"}' }],
      check: (outcome, server, seconds) => expectComplete(outcome, server, seconds),
    },
  ],
  [
    "a closed session ends without an event, and takes no sound",
    "closed",
    {
      check: ({ failures, last }, { session }) => {
        expect(failures).toEqual([{ name: "TranscribeError" }]);
        expect(last).not.toEqual(ended);
        expect(session.messages).toEqual([]);
      },
    },
  ],
  [
    "a session takes no sound after its end",
    "after_end",
    {
      check: ({ failures, last }) => {
        expect(failures).toEqual([{ name: "TranscribeError" }]);
        expect(last).toEqual(ended);
      },
    },
  ],
];

/** A program that runs the scenarios. */
interface LiveRuntime extends SdkRuntime {
  /** Whether the WebSocket is that of the package ws. */
  readonly ws: boolean;
}

const folder = temporaryDirectory();
afterAll(() => folder[Symbol.dispose]());

const runtimes = await Promise.all([
  installTypescriptSdk(folder.path).then(async ([bun]) => {
    if (bun === undefined) return [];
    const both = (runtime: SdkRuntime): LiveRuntime[] => [
      { ...runtime, ws: false },
      { ...runtime, name: `${runtime.name} with ws`, ws: true },
    ];
    const packages = await orSkipped(
      "the TypeScript client in Node",
      installNpmPackages(defaultCacheRoot(), npmClients),
    );
    if (packages === null) return both(bun);
    cpSync(join(packages.folder, "node_modules/ws"), join(folder.path, "node_modules/ws"), { recursive: true });
    return [...both(bun), ...both({ ...bun, name: "Node", program: packages.node })];
  }),
  installPythonSdk(folder.path).then(async ([python]) => {
    if (python === undefined) return [];
    const found: LiveRuntime[] = [];
    for (const wanted of [testPackages.oldestWebsockets, testPackages.websockets]) {
      const packages = await orSkipped("the Python client", installPythonPackages(defaultCacheRoot(), wanted));
      if (packages === null) continue;
      const path = `${python.environment.PYTHONPATH}:${packages}`;
      const name = `Python with ${wanted === testPackages.websockets ? "the newest" : "the oldest"} websockets`;
      found.push({ ...python, name, ws: false, environment: { ...python.environment, PYTHONPATH: path } });
    }
    return found;
  }),
]);

async function orSkipped<T>(what: string, installing: Promise<T>): Promise<T | null> {
  return await installing.catch((error: unknown) => {
    if (!(error instanceof CommandError)) throw error;
    console.warn(`SKIPPED: live sessions of ${what}; its packages cannot be installed: ${error.message}`);
    return null;
  });
}

/** The scenarios in one runtime, each with its own server. */
class Play implements Disposable {
  readonly servers = scenarios.map(([, , { fates = [], endReason = "client" }]) => {
    const server = new ScriptedLive();
    server.fates.push(...fates);
    server.endReason = endReason;
    return server;
  });
  outcomes: (typeof outcomesSchema)["static"] = [];

  async run(runtime: LiveRuntime): Promise<void> {
    const stages = scenarios.map(([, name, { seconds = 7 }], index) => {
      const server = this.servers[index];
      return { name, base_url: server?.origin, key: server?.key, seconds, ws: runtime.ws };
    });
    const file = runtime.language === "ts" ? "live-scenarios.mts" : "live-scenarios.py";
    const script = writeScript(runtime, folder.path, "live", readFileSync(join(import.meta.dir, file), "utf8"));
    const child = Bun.spawn([runtime.program, script], {
      env: { PATH: process.env.PATH, ...runtime.environment },
      stdin: Buffer.from(JSON.stringify(stages)),
      stdout: "pipe",
      stderr: "pipe",
    });
    const { exitCode, stdout, stderr } = await resultOf(child);
    expect([exitCode, stderr]).toEqual([0, ""]);
    this.outcomes = Value.Parse(outcomesSchema, JSON.parse(stdout));
  }

  [Symbol.dispose](): void {
    for (const server of this.servers) server[Symbol.dispose]();
  }
}

const plays = runtimes.flat().map((runtime) => ({ runtime, play: new Play() }));
beforeAll(async () => {
  for (const { runtime, play } of plays) await play.run(runtime);
});
afterAll(() => {
  for (const { play } of plays) play[Symbol.dispose]();
});

describe.each(plays.map(({ runtime, play }) => [runtime.name, play] as const))("the client in %s", (_, play) => {
  test.each(scenarios.map(([promise, , scenario], index) => [promise, scenario, index] as const))(
    "promises of a live session: %s",
    (_promise, { check, seconds = 7 }, index) => {
      const { outcome, failure } = play.outcomes[index] ?? {};
      expect(failure).toBeUndefined();
      const server = play.servers[index];
      if (server !== undefined) check(outcome as Outcome, server, seconds);
    },
  );
});
