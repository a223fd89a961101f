import { describe, expect, test } from "bun:test";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import type { SpeechModel } from "../../src/models/index.ts";
import { bindModel, foreseeModel } from "../../src/pipeline/bind-model.ts";
import { readModelLanguages } from "../../src/speech/index.ts";
import { stepContext, storedRecording } from "./step-context.ts";

/** Returns a model file that has only a header, which contains the languages. */
function header(vocabularySize: number): Uint8Array {
  const bytes = Buffer.alloc(48);
  bytes.writeUInt32LE(0x67676d6c, 0);
  bytes.writeInt32LE(vocabularySize, 4);
  return bytes;
}

/** A recording in process, and the available models: multi, english and, until it is removed, old. */
async function made(speechModel: string) {
  const directory = temporaryDirectory();
  const { store, recordings, id, checkpoints } = storedRecording({ speechModel });
  recordings.claim(id);
  const files = new Map<string, string>();
  for (const [name, size] of Object.entries({ multi: 51_865, english: 51_864, old: 51_865 })) {
    files.set(name, `${directory.path}/${name}`);
    await Bun.write(`${directory.path}/${name}`, header(size));
  }
  const digests = new Map([...files.keys()].map((name) => [name, `digest of ${name}`]));
  const admitted: string[] = [];
  const find = (name: string): SpeechModel | null => {
    const path = files.get(name);
    return path === undefined ? null : { id: name, path };
  };
  /** The currently best encoder, and the amounts of speech with which it was requested. */
  const encoders = {
    best: "/encoders/one" as string | null,
    /** The encoder that does not depend on the amount of speech; undefined if there is none. */
    known: undefined as string | null | undefined,
    asked: [] as number[],
  };
  /** Set by tests in which the model `english` cannot detect languages. */
  const companion = { model: null as SpeechModel | null };
  const models = {
    encoderOf: async (_model: SpeechModel, spokenSeconds: number) => {
      encoders.asked.push(spokenSeconds);
      return encoders.best;
    },
    knownEncoderOf: async () => encoders.known,
    find,
    companionOf: ({ id: name }: SpeechModel) => (name === "english" ? companion.model : null),
    routes: () => [],
    languagesOf: ({ path }: SpeechModel) => readModelLanguages(path),
    current: () => find("multi") as SpeechModel,
    sha256Of: async (model: SpeechModel) => digests.get(model.id) ?? "",
    admit: async (model: SpeechModel) => void admitted.push(model.id),
  };
  const context = () => {
    const recording = recordings.get(id);
    if (recording === null) throw new Error("it is gone");
    return stepContext({ recording, checkpoints });
  };
  const bind = () => bindModel(context(), { models, recordings }, 200);
  const foresee = () => foreseeModel(context(), models);
  const begun = () => checkpoints.finished("transcribe").size;
  const begin = () => store.$client.run("INSERT INTO checkpoints VALUES (?, 'transcribe', 0, '{}')", [id]);
  return {
    ...{ recordings, id, files, digests, admitted, encoders, companion, find, bind, foresee, begin, begun },
    [Symbol.dispose]: () => directory[Symbol.dispose](),
  };
}

describe("the model of a recording", () => {
  test("is the one that it was created for, with its own languages, and its digest is stored", async () => {
    using one = await made("english");
    const { recordings, id, admitted, bind } = one;
    const model = await bind();
    expect([model.id, model.languages.map(({ code }) => code)]).toEqual(["english", ["en"]]);
    expect(recordings.get(id)).toMatchObject({ speechModel: "english", speechModelSha256: "digest of english" });
    expect(admitted).toEqual(["english"]);
  });

  test("and its results stay when work resumes after an interruption", async () => {
    using one = await made("old");
    const { bind, begin, begun } = one;
    await bind();
    begin();
    expect((await bind()).id).toBe("old");
    expect(begun()).toBe(1);
  });

  test("keeps its own encoder when an earlier version of the program started the transcription", async () => {
    using one = await made("old");
    const { encoders, bind, begin, begun } = one;
    begin();
    expect((await bind()).encoder).toBeNull();
    expect((await bind()).encoder).toBeNull();
    expect([encoders.asked, begun()]).toEqual([[], 1]);
  });

  test("keeps its encoder for the whole recording, even when another one becomes the best", async () => {
    for (const best of ["/encoders/one", null]) {
      using one = await made("old");
      const { encoders, bind } = one;
      encoders.best = best;
      expect((await bind()).encoder).toBe(best);
      encoders.best = "/encoders/two";
      expect((await bind()).encoder).toBe(best);
      expect(encoders.asked).toEqual([200]);
    }
  });

  test("is bound together with the model that detects languages for it, each with an encoder that it keeps", async () => {
    using one = await made("english");
    const { admitted, encoders, companion, find, bind } = one;
    companion.model = find("multi");
    const model = await bind();
    expect(model).toMatchObject({ id: "english", companion: { path: find("multi")?.path, encoder: "/encoders/one" } });
    expect(admitted).toEqual(["english", "multi"]);
    encoders.best = "/encoders/two";
    expect(await bind()).toEqual(model);
  });

  test.each(["gone", "another file"])(
    "gives way to the one in use when it is %s, which then does all of it",
    async (how) => {
      using one = await made("old");
      const { recordings, id, files, digests, encoders, bind, begin, begun } = one;
      await bind();
      begin();
      if (how === "gone") files.delete("old");
      else digests.set("old", "another digest");
      encoders.best = "/encoders/two";
      expect(await bind()).toMatchObject({ id: "multi", encoder: "/encoders/two" });
      expect(begun()).toBe(0);
      expect(recordings.get(id)).toMatchObject({ speechModel: "multi", speechModelSha256: "digest of multi" });
    },
  );
});

describe("the model before the amount of speech is known", () => {
  test("is the one that will be bound, if its encoders do not depend on the amount, and nothing is stored", async () => {
    using one = await made("english");
    const { recordings, id, encoders, companion, find, bind, foresee } = one;
    companion.model = find("multi");
    encoders.known = encoders.best;
    const foreseen = await foresee();
    expect(recordings.get(id)?.speechModelSha256).toBeNull();
    expect(encoders.asked).toEqual([]);
    expect(await bind()).toEqual(foreseen as NonNullable<typeof foreseen>);
    encoders.known = undefined;
    expect(await foresee()).toEqual(foreseen);
  });

  test("is unknown if an encoder depends on the amount, or the model will be replaced", async () => {
    using one = await made("old");
    const { files, digests, encoders, bind, foresee } = one;
    expect(await foresee()).toBeNull();
    await bind();
    expect(await foresee()).not.toBeNull();
    encoders.known = null;
    digests.set("old", "another digest");
    expect(await foresee()).toBeNull();
    files.delete("old");
    expect(await foresee()).toBeNull();
  });
});
