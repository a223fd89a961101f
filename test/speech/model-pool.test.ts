import { describe, expect, test } from "bun:test";
import { ModelPool } from "../../src/speech/model-pool.ts";
import type { EncoderOptions, Recognizer, RecognizerModel } from "../../src/speech/recognizer/index.ts";

const never = new AbortController().signal;

/** Returns a pool whose models record their use. @param room number of models that fit into memory */
function pool(room = 9) {
  const events: string[] = [];
  let loaded = 0;
  const open = (path: string): RecognizerModel => {
    if (loaded === room) throw new Error("out of memory");
    loaded += 1;
    events.push(`open ${path}`);
    const state = (encoder?: EncoderOptions) => {
      if (encoder?.path === "damaged") throw new Error("no encoder");
      events.push(`state ${path}${encoder === undefined ? "" : ` with ${encoder.path}`}`);
      return { abort: () => events.push(`abort ${path}`), dispose: () => events.push(`end state ${path}`) };
    };
    const close = () => {
      loaded -= 1;
      events.push(`close ${path}`);
    };
    return {
      decoderWork: () => ({ steps: 1, rows: 5 }),
      createRecognizer: (encoder?: EncoderOptions) => state(encoder) as unknown as Recognizer,
      dispose: close,
    } as unknown as RecognizerModel;
  };
  return { models: new ModelPool(open, false), events };
}

describe("the worker's speech models", () => {
  test("are loaded once each at first use, with one recognizer for each concurrent job", async () => {
    const { models, events } = pool();
    models.loadFirst("a");
    for (const path of ["a", "b", "a", "b"]) await models.use(path, never, async () => {});
    expect(events).toEqual(["open a", "state a", "open b", "state b"]);
  });

  test("keep recognizers for one encoder at a time, and fall back to the model's own encoder", async () => {
    const { models, events } = pool();
    const [none, one, damaged] = [undefined, "one", "damaged"].map((path) =>
      path === undefined ? undefined : { library: "", path, threads: 1 },
    );
    for (const encoder of [none, one, one, none, damaged, damaged])
      await models.use("a", never, async () => {}, encoder);
    expect(events).toEqual([
      ...["open a", "state a", "end state a", "state a with one", "end state a", "state a"],
      ...["end state a", "state a"],
    ]);
  });

  test("keep recognizers of their own for live sessions, whose encoder a self-test does not use", async () => {
    const { models, events } = pool();
    const encoder = { library: "", path: "one", threads: 1 };
    await models.use("a", never, async () => {}, encoder);
    for (const use of ["live", "recordings", "live"] as const) {
      await models.use("a", never, async () => {}, use === "live" ? undefined : encoder, use);
    }
    expect(events).toEqual(["open a", "state a with one", "state a"]);
    expect(models.latestEncoderOf("a")).toEqual(encoder);
  });

  test("still count the decoder's work of models that were freed", async () => {
    const { models } = pool();
    for (const path of ["a", "b"]) await models.use(path, never, async () => {});
    models.keepOnly(["b"]);
    expect(models.decoderWork()).toEqual({ steps: 2, rows: 10 });
  });

  test("name the encoder of the latest job, with which a self-test needs no further recognizer", async () => {
    const { models, events } = pool();
    const encoder = { library: "", path: "one", threads: 1 };
    expect(models.latestEncoderOf("a")).toBeUndefined();
    await models.use("a", never, async () => {}, encoder);
    await models.use("a", never, async () => {}, models.latestEncoderOf("a"));
    expect(events).toEqual(["open a", "state a with one"]);
  });

  test("are freed when unneeded, recognizers first, and loaded again at the next use", async () => {
    const { models, events } = pool();
    for (const path of ["a", "b"]) await models.use(path, never, async () => {});
    events.splice(0);
    models.keepOnly(["b"]);
    expect(events).toEqual(["end state a", "close a"]);
    await models.use("a", never, async () => {});
    expect(events.slice(2)).toEqual(["open a", "state a"]);
  });

  test("are freed only after their running jobs", async () => {
    const { models, events } = pool();
    const gate = Promise.withResolvers<void>();
    const jobs = [models.use("a", never, () => gate.promise), models.use("a", never, () => gate.promise)];
    models.keepOnly([]);
    expect(events).not.toContain("close a");
    gate.resolve();
    await Promise.all(jobs);
    expect(events.slice(-3)).toEqual(["end state a", "end state a", "close a"]);
  });

  test("are freed for one that does not fit into memory, unless they are in use", async () => {
    const { models, events } = pool(1);
    await models.use("a", never, async () => {});
    await models.use("b", never, async () => {});
    expect(events).toEqual(["open a", "state a", "end state a", "close a", "open b", "state b"]);
    const gate = Promise.withResolvers<void>();
    const job = models.use("b", never, () => gate.promise);
    await expect(models.use("a", never, async () => {})).rejects.toThrow("out of memory");
    gate.resolve();
    await job;
    await models.use("b", never, async () => {});
    expect(events).not.toContain("close b");
  });

  test("start no aborted job, and abort a running one", async () => {
    const { models, events } = pool();
    await expect(models.use("a", AbortSignal.abort(new Error("no")), async () => {})).rejects.toThrow("no");
    expect(events).toEqual([]);
    const controller = new AbortController();
    const gate = Promise.withResolvers<void>();
    const job = models.use("a", controller.signal, () => gate.promise);
    controller.abort();
    gate.resolve();
    await job;
    expect(events).toEqual(["open a", "state a", "abort a"]);
  });
});
