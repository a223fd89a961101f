import { afterEach, beforeEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { Encoders } from "../../src/devices/encoders.ts";
import { createLogger } from "../../src/telemetry/index.ts";

interface Given {
  /** Verdict that earlier processes stored. */
  readonly known?: string | null | undefined;
  /** Result of a self-test, or its error. */
  readonly found?: string | null | Error | undefined;
  readonly lack?: string | null | undefined;
  /** Bytes that the disk has room for. */
  readonly roomBytes?: number;
}

let directory: ReturnType<typeof temporaryDirectory>;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => directory[Symbol.dispose]());

function encodersWith(given: Given) {
  const root = directory.path;
  const speechModel = join(root, "model.bin");
  writeFileSync(speechModel, "");
  const trials: string[] = [];
  const uses: string[] = [];
  const clock = { now: 0 };
  const lookUps = { count: 0 };
  const encoders = new Encoders({
    files: { nativeDirectory: root, onnxBinding: root },
    verdictsPath: join(root, "devices.json"),
    lackOfSpace: (bytes) => (bytes > (given.roomBytes ?? bytes) ? "the disk is full" : (given.lack ?? null)),
    log: createLogger("silent"),
    now: () => clock.now,
    operations: {
      stored: async () => {
        lookUps.count += 1;
        return given.known;
      },
      test: async ({ cpuLibrary, signal }) => {
        trials.push(cpuLibrary);
        await Promise.resolve();
        signal?.throwIfAborted();
        const { found = "/encoders/one" } = given;
        if (found instanceof Error) throw found;
        return { path: found, detail: "" };
      },
      noteUse: async (path) => void uses.push(path),
    },
  });
  const find = (spokenSeconds: number, cpuLibrary = "this") =>
    encoders.find({ cpuLibrary, speechModel }, spokenSeconds);
  return { encoders, find, trials, uses, clock, lookUps, speechModel };
}

test("an encoder is tested once for all recordings, also concurrent ones, and for each CPU variant", async () => {
  const { find, trials } = encodersWith({});
  const one = "/encoders/one";
  expect(await Promise.all([find(200), find(300), find(200)])).toEqual([one, one, one]);
  expect(await find(1)).toBe(one);
  expect(trials).toEqual(["this"]);
  await find(200, "another");
  expect(trials).toEqual(["this", "another"]);
});

test.each([["/encoders/known"], [null]])("%p is not tried again where it is known", async (known) => {
  const { find, trials } = encodersWith({ known });
  expect([await find(1), await find(1000)]).toEqual([known, known]);
  expect(trials).toEqual([]);
});

test("an encoder without a result stays unknown, and costs no self-test, until speech justifies one", async () => {
  const { encoders, find, trials, speechModel } = encodersWith({});
  const known = () => encoders.known({ cpuLibrary: "this", speechModel });
  expect([await known(), await find(100), await known()]).toEqual([undefined, null, undefined]);
  expect(trials).toEqual([]);
  expect([await find(200), await known()]).toEqual(["/encoders/one", "/encoders/one"]);
});

test("the encoder of a model is not used with another file under the same path", async () => {
  let known: string | null = "/encoders/one";
  const { find, speechModel } = encodersWith({
    get known() {
      return known;
    },
  });
  expect(await find(1)).toBe("/encoders/one");
  known = null;
  expect(await find(1)).toBe("/encoders/one");
  writeFileSync(speechModel, "other weights");
  expect(await find(1)).toBeNull();
});

test("an encoder is tested only for much speech, or after an hour of short recordings", async () => {
  const { find, trials } = encodersWith({});
  for (let recording = 0; recording < 39; recording++) expect(await find(90)).toBeNull();
  expect(trials).toEqual([]);
  expect(await find(90)).toBe("/encoders/one");
});

test.each<[string, Given]>([
  ["a trial that fails", { found: new Error("killed") }],
  ["no room on the disk", { lack: "the disk is full" }],
])("after %s the model's own encoder is used for another hour of speech", async (_, given) => {
  let fails = true;
  const { find, trials } = encodersWith({
    get found() {
      return fails ? given.found : "/encoders/one";
    },
    get lack() {
      return fails ? given.lack : null;
    },
  });
  expect([await find(200), await find(200)]).toEqual([null, null]);
  expect(trials.length).toBeLessThan(2);
  fails = false;
  expect([await find(3000), await find(500)]).toEqual([null, "/encoders/one"]);
});

test.each([
  [199, null],
  [200, "/encoders/one"],
])("with %p bytes of disk space, a model of 100 bytes has the encoder %p", async (roomBytes, encoder) => {
  const { find, speechModel } = encodersWith({ roomBytes });
  writeFileSync(speechModel, new Uint8Array(100));
  expect(await find(200)).toBe(encoder);
});

test("closing does not wait for a running self-test", async () => {
  const { encoders, find } = encodersWith({});
  const finding = find(200);
  encoders.close();
  expect(await finding).toBeNull();
});

test("every recording records the use of its encoder, so that encoders in use are never removed", async () => {
  const { find, uses } = encodersWith({ known: "/encoders/known" });
  await find(1);
  await find(1);
  expect(uses).toEqual(["/encoders/known", "/encoders/known"]);
});

test("a verdict for the model's own encoder is looked up again after a day", async () => {
  const { find, clock, lookUps } = encodersWith({ known: null });
  for (const now of [0, 1, 86_399_999]) {
    clock.now = now;
    expect(await find(200)).toBeNull();
  }
  expect(lookUps.count).toBe(1);
  clock.now = 86_400_000;
  expect(await find(200)).toBeNull();
  expect(lookUps.count).toBe(2);
});
