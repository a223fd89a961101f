import { expect, test } from "bun:test";
import { lackingModelsText } from "../../src/models/index.ts";

const [published, pulled, imported, unknown] = ["1", "2", "3", "4"].map((digit) => digit.repeat(64)) as [
  string,
  string,
  string,
  string,
];
const known = {
  catalogue: [{ id: "whisper-base", sha256: published }, { id: "whisper-small" }],
  installed: [
    { id: "whisper-small", sha256: pulled, inCatalogue: true },
    { id: "mine", sha256: imported, inCatalogue: false },
  ],
};
const source = "transcribe models import FILE, with the file from which the coordinator got";

test.each([
  ["of the catalogue", [published], "it lacks the model whisper-base; run on it: transcribe models pull whisper-base"],
  ["that was pulled", [pulled], "it lacks the model whisper-small; run on it: transcribe models pull whisper-small"],
  ["that is not in the catalogue", [imported], `it lacks the model mine; run on it: ${source} the model mine`],
  [
    "that nobody knows",
    [unknown],
    `it lacks the model with the digest 444444444444; run on it: ${source} the model with the digest 444444444444`,
  ],
  [
    "of each origin",
    [published, imported, pulled],
    `it lacks the model whisper-base, mine, whisper-small; run on it: transcribe models pull whisper-base whisper-small; ${source} the model mine`,
  ],
])("a worker that lacks a model %s is told the command that installs it", (_, digests, text) => {
  expect(lackingModelsText(digests, known)).toBe(text);
});
