import { expect, test } from "bun:test";
import type { SpeakerPart, UnexpectedExit } from "../../../src/engine/index.ts";
import { programFiles } from "../../../src/program/index.ts";
import { DiarizationGpu } from "../../../src/speech/devices/diarization-gpu.ts";
import { createLogger } from "../../../src/telemetry/index.ts";

const files = await programFiles("");
const killed = { exitCode: null, signal: "SIGKILL" };
const crashed = { exitCode: null, signal: "SIGSEGV" };
const lost = { message: "device lost", outOfMemory: false };
const both: readonly SpeakerPart[] = ["segmentation", "embedding"];

/** Returns the models for a GPU that computes these faster, and how often that was determined. */
function machine(onGpu: readonly SpeakerPart[]) {
  const asked = { times: 0 };
  const choose = async () => {
    asked.times += 1;
    return { onGpu, leftOut: [] };
  };
  const speakers = new DiarizationGpu({
    files,
    verdictsPath: "/nowhere",
    log: createLogger("silent"),
    withSample: () => Promise.reject(new Error("the self-test is replaced")),
    choose,
  });
  return { speakers, asked };
}

test("the models for the GPU are determined once", async () => {
  const { speakers, asked } = machine(["embedding"]);
  expect([await speakers.parts(0), await speakers.parts(0)]).toEqual([["embedding"], ["embedding"]]);
  expect(asked.times).toBe(1);
});

const theirs: [string, UnexpectedExit][] = [
  ["they failed there", { ...killed, gpuFailure: { ...lost, part: "speakers" } }],
  ["the GPU was short of memory, which they took some of", { ...killed, gpuFailure: { ...lost, outOfMemory: true } }],
  ["a worker crashed that was at them", { ...crashed, running: { speech: [1], others: [2] } }],
  ["a worker crashed before it was given anything", crashed],
  ["a worker came to no end with them", { ...killed, stalled: true, running: { speech: [], others: [1] } }],
];
test.each(theirs)("the CPU computes the models from then on where %s", async (_, death) => {
  const { speakers } = machine(both);
  await speakers.parts(0);
  expect(speakers.after(death)).toBe(true);
  expect(await speakers.parts(0)).toEqual([]);
  // Once they are on the CPU, it is nothing of theirs.
  expect(speakers.after(death)).toBe(false);
});

const ofOthers: [string, UnexpectedExit][] = [
  ["whisper failed there", { ...killed, gpuFailure: lost }],
  ["a worker crashed that was at whisper's work alone", { ...crashed, running: { speech: [1], others: [] } }],
  ["a worker came to no end with whisper's work", { ...killed, stalled: true, running: { speech: [1], others: [] } }],
  ["somebody killed a worker", { ...killed, running: { speech: [], others: [1] } }],
  ["a worker met an illegal instruction", { exitCode: null, signal: "SIGILL", running: { speech: [], others: [1] } }],
];
test.each(ofOthers)("the GPU keeps the models where %s", async (_, death) => {
  const { speakers } = machine(both);
  await speakers.parts(0);
  expect(speakers.after(death)).toBe(false);
  expect(await speakers.parts(0)).toEqual(both);
});

test("the models are not blamed for the exit of a worker that does not run them", async () => {
  const { speakers } = machine(both);
  expect(await speakers.parts(0, "Vulkan0")).toEqual(both);
  expect(speakers.after({ ...crashed, gpu: "Vulkan1" })).toBe(false);
  expect(speakers.after({ ...crashed, gpu: "Vulkan0" })).toBe(true);
});

test("models on the CPU are not blamed for a worker's exit", async () => {
  const { speakers } = machine([]);
  expect(speakers.after(crashed)).toBe(false);
  await speakers.parts(0);
  expect(speakers.after(crashed)).toBe(false);
});
