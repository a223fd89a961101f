import { expect, test } from "bun:test";
import { proposalLimits, proposeVoices } from "../../src/voices/index.ts";
import { between, voiceOf } from "../support/voices.ts";

const speaker = (number: number, embedding: Float32Array, seconds = 20) => ({ speaker: number, seconds, embedding });
const voice = (id: string, embedding: Float32Array, isExcluded = false) => ({ id, embedding, isExcluded });
const anna = voice("anna", voiceOf(1));
const bob = voice("bob", voiceOf(2));

test("each speaker who resembles one voice clearly gets it proposed, and a stranger gets none", () => {
  const speakers = [speaker(0, voiceOf(2, 5)), speaker(1, voiceOf(9)), speaker(2, voiceOf(1, 5))];
  expect([...proposeVoices(speakers, [anna, bob])].sort()).toEqual([
    [0, "bob"],
    [2, "anna"],
  ]);
  expect(proposeVoices(speakers, []).size).toBe(0);
  expect(proposeVoices([], [anna]).size).toBe(0);
});

test("a speaker with too little clean speech gets no proposal", () => {
  const { minSeconds } = proposalLimits;
  expect(proposeVoices([speaker(0, voiceOf(1, 5), minSeconds - 0.1)], [anna]).size).toBe(0);
  expect(proposeVoices([speaker(0, voiceOf(1, 5), minSeconds)], [anna]).size).toBe(1);
});

test("a speaker who resembles two voices about equally gets no proposal", () => {
  const twins = [voice("first", voiceOf(1)), voice("second", between(1, 2, 0.95))];
  expect(proposeVoices([speaker(0, voiceOf(1, 5))], twins).size).toBe(0);
  expect(proposeVoices([speaker(0, voiceOf(1, 5))], twins.slice(0, 1)).get(0)).toBe("first");
});

test("of two speakers who resemble a voice, the more similar one alone gets it", () => {
  const speakers = [speaker(0, voiceOf(1, 5)), speaker(1, voiceOf(1)), speaker(2, voiceOf(1, 6))];
  expect([...proposeVoices(speakers, [anna, bob])]).toEqual([[1, "anna"]]);
});

test("a rejected voice is not proposed, and its speaker gets no second-best voice instead", () => {
  const similar = voice("similar", between(1, 2, 0.8));
  const rejected = { ...anna, isExcluded: true };
  expect(proposeVoices([speaker(0, voiceOf(1, 5))], [rejected, similar]).size).toBe(0);
});
