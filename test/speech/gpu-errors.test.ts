import { expect, test } from "bun:test";
import { GpuError } from "../../src/speech/gpu-error.ts";
import { ModelPool } from "../../src/speech/model-pool.ts";
import type { Recognizer, RecognizerModel } from "../../src/speech/recognizer/index.ts";

const recognizer: Recognizer = {
  detectLanguage: () => Promise.reject(new Error("not asked")),
  transcribe: () => Promise.reject(new Error("not asked")),
  translate: () => Promise.reject(new Error("not asked")),
  transcribeLive: () => Promise.reject(new Error("not asked")),
  transcribeOnce: () => Promise.reject(new Error("not asked")),
  abort() {},
  dispose() {},
};
/** Opens a model; its path names the fault. */
function open(path: string): RecognizerModel {
  if (path === "damaged") throw new Error("cannot load the whisper model damaged: a tensor is cut off");
  if (path === "large") throw new Error("cannot load the whisper model large: ErrorOutOfDeviceMemory");
  const createRecognizer = () => {
    if (path === "crowded") throw new Error("whisper could not set up its working memory");
    return recognizer;
  };
  return { createRecognizer, decoderWork: () => ({ steps: 0, rows: 0 }), dispose() {} };
}

const never = new AbortController().signal;
async function errorOf(usesGpu: boolean, path: string, error?: Error, signal = never): Promise<unknown> {
  const models = new ModelPool(open, usesGpu);
  const job = error === undefined ? async () => {} : () => Promise.reject(error);
  return await models.use(path, signal, job).catch((thrown: unknown) => thrown);
}

test.each<[string, string, Error | undefined, boolean | null]>([
  ["a job that fails", "base", new Error("whisper could not transcribe the samples, code -6"), false],
  [
    "a job that fails for want of memory",
    "base",
    new Error("code -6 (ggml_gallocr_reserve: failed to allocate Vulkan0 buffer)"),
    true,
  ],
  ["a working memory that can't be had", "crowded", undefined, false],
  ["a model that does not fit", "large", undefined, true],
  ["a model that is damaged", "damaged", undefined, null],
  ["what was asked wrongly", "base", new RangeError("the beam size must be a whole number"), null],
])("on a GPU, %s is classified", async (_, path, error, outOfMemory) => {
  const thrown = await errorOf(true, path, error);
  expect(thrown).toBeInstanceOf(Error);
  if (outOfMemory === null) expect(thrown).not.toBeInstanceOf(GpuError);
  else expect(thrown).toMatchObject({ name: "GpuError", failure: { outOfMemory } });
});

test("no error is a GPU failure on the CPU or after an abort", async () => {
  expect(await errorOf(false, "base", new Error("out of memory"))).not.toBeInstanceOf(GpuError);
  const controller = new AbortController();
  const models = new ModelPool(open, true);
  const aborted = models.use("base", controller.signal, () => {
    controller.abort(new Error("stopped"));
    return Promise.reject(new Error("whisper could not transcribe"));
  });
  expect(await aborted.catch((error: unknown) => error)).not.toBeInstanceOf(GpuError);
});

test("any error of the first model on a GPU is a GPU failure", () => {
  expect(() => new ModelPool(open, true).loadFirst("damaged")).toThrow(GpuError);
  expect(() => new ModelPool(open, false).loadFirst("damaged")).not.toThrow(GpuError);
  expect(() => new ModelPool(open, false).loadFirst("damaged")).toThrow("cut off");
});
