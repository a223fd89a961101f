import { describe, expect, test } from "bun:test";
import { readTranscribe } from "../../src/wyoming/transcribe-request.ts";

const model = { id: "whisper-base", languages: ["de", "en", "pt", "yue", "zh"], title: "", homepage: "" };
const read = (data: Record<string, unknown>) => readTranscribe({ type: "transcribe", data }, model);

describe("the language of a transcribe event", () => {
  test.each([
    [undefined, null],
    [null, null],
    ["", null],
    ["auto", null],
    ["de", "de"],
    ["DE", "de"],
    ["en-US", "en"],
    ["pt_BR", "pt"],
    ["zh-Hans-CN", "zh"],
    ["yue", "yue"],
  ])("%p is understood as %p", (language, expected) => {
    expect(read({ language }).language).toBe(expected);
  });

  test.each(["xx", "d", "english", "en."])("%p is unknown", (language) => {
    expect(() => read({ language })).toThrow("The model does not know this language.");
  });
});

describe("the model of a transcribe event", () => {
  test.each([undefined, null, "", "whisper-base"])("may be %p", (name) => {
    expect(read({ name })).toEqual({ language: null, prompt: null, context: null });
  });

  test("must be the one in use", () => {
    expect(() => read({ name: "tiny-int8" })).toThrow("There is no model of this name");
  });
});

describe("the terms of a transcribe event", () => {
  test("become a prompt, the names first and each once", () => {
    const { prompt } = read({ transcript_names: ["Küche", "Lamp 2"], transcript_terms: ["Wyoming", "Küche"] });
    expect(prompt).toBe("Küche, Lamp 2, Wyoming");
  });

  test("are left out without letters and digits, or with control characters", () => {
    expect(read({ transcript_names: ["", "…", "a\u0000b", "Hall"] }).prompt).toBe("Hall");
    expect(read({ transcript_terms: ["", "…"] }).prompt).toBeNull();
  });

  test("are as many as a prompt holds", () => {
    const names = Array.from({ length: 1000 }, (_, index) => `device ${index}`);
    const { prompt } = read({ transcript_names: names, transcript_terms: ["left out"] });
    expect(prompt).toStartWith("device 0, device 1, ");
    expect(prompt?.length).toBeGreaterThan(1900);
    expect(prompt?.length).toBeLessThanOrEqual(2000);
    expect(prompt).not.toContain("left out");
  });
});

test("the context of a transcribe event is kept as it is", () => {
  expect(read({ context: { conversation_id: "7", nested: { a: [1] } } }).context).toEqual({
    conversation_id: "7",
    nested: { a: [1] },
  });
});

test.each([
  ["a language that is a number", { language: 1 }],
  ["a language of 201 characters", { language: "x".repeat(201) }],
  ["a name that is an object", { name: {} }],
  ["a context that is a text", { context: "text" }],
  ["a context that is a list", { context: [] }],
  ["names that are a text", { transcript_names: "Hall" }],
  ["terms that are numbers", { transcript_terms: [1] }],
])("a transcribe event with %s is refused", (_, data) => {
  expect(() => read(data)).toThrow("transcribe has an invalid field.");
});
