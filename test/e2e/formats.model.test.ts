import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { available, corpusPath } from "../../harness/checkout.ts";
import { errorOf, type TestClient } from "../../harness/client.ts";
import { tinyModel, writeRandomModel } from "../../harness/parakeet/random-model.ts";
import { startTimeout, TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { wordErrorRate } from "./accuracy.ts";

const manifestSchema = Type.Array(
  Type.Object({
    path: Type.String(),
    answer: Type.Optional(Type.String()),
    transcript: Type.Union([Type.String(), Type.Null()]),
  }),
);
const ready = available("e2e tests of formats", corpusPath("manifest.json"));
const manifest = ready ? Value.Parse(manifestSchema, await Bun.file(corpusPath("manifest.json")).json()) : [];
const files = manifest.filter(({ path }) => path.startsWith("formats/"));

/**
 * Files whose words are compared: the two with the most loss, and one with other speech in its second track. A tiny model
 * with random weights processes the others, because test/media/corpus.integration.test.ts compares the samples of all
 * files.
 */
const transcribed = ["jfk.opus", "jfk-gsm.wav", "jfk-two-audio-tracks.mkv"];
/** Knows more languages than English. */
const randomModel = { ...tinyModel, vocabulary: 8192 };
/** Language of the random model. Language detection would cost another run of the encoder for each file. */
const [randomLanguage, language] = ["de", "en"];

describe.if(ready)("a file of the format corpus", () => {
  const server = new TestServer({ TRANSCRIBE_ENGINE_RECOGNIZERS: `${randomLanguage}: random,*: whisper-base` });
  let client: TestClient;
  let accepted = 0;
  beforeAll(async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "random.bin");
    writeRandomModel(path, randomModel);
    expect(await server.cli("models", "import", path)).toMatchObject({ exitCode: 0 });
    await server.start();
    client = server.client("formats");
  }, startTimeout);
  afterAll(() => server[Symbol.asyncDispose]());

  const filesIn = (folder: string) => readdirSync(join(server.dataDirectory, folder));

  afterEach(async () => {
    await server.untilReady();
    await server.untilCleanedUp();
    expect(filesIn("incoming")).toEqual([]);
    // Accepted uploads stay stored for a retry. Refused uploads are removed.
    expect(filesIn("uploads")).toHaveLength(accepted);
  });

  for (const { path, answer = "none", transcript } of files) {
    const [verdict, detail] = answer.split(" ");
    const isTranscribed = transcribed.some((name) => path.endsWith(`/${name}`));
    test(
      `${path} has the result of its manifest: ${answer}`,
      server.showingLog(async () => {
        const response = await client.send(corpusPath(path), { language: isTranscribed ? language : randomLanguage });
        if (verdict === "422") {
          const { error, errors } = await errorOf(response, 422);
          expect(error).toBe("validation_failed");
          expect(errors).toEqual({ [detail ?? ""]: [expect.stringMatching(/^The file [^/]*\.$/)] });
          return;
        }
        expect(response.status).toBe(201);
        accepted++;
        const id = response.headers.get("location")?.split("/").at(-1) ?? "";
        const ended = await client.waitUntilEnded(id, 100);
        expect(ended.status).toBe(verdict as "completed" | "failed");
        if (verdict === "failed") {
          expect(ended.failure_reason).toBe(detail as "no_speech" | "too_short");
          expect((await errorOf(await client.fetch(`/transcriptions/${id}/segments`), 409)).error).toBe(
            "transcription_is_not_ready",
          );
          return;
        }
        const segments = await client.segments(id);
        expect(segments).not.toBeEmpty();
        // At 13 kbit/s of GSM, "Americans ask" is recognized as "America asked". All other files have no word errors.
        if (isTranscribed && transcript !== null) expect(wordErrorRate(transcript, segments)).toBeLessThanOrEqual(0.1);
      }),
      120_000,
    );
  }

  test("causes no error of the server and no exit of its worker", () => {
    const errors = server.log.filter(({ event, level }) => level === "error" || event === "engine.worker_exited");
    expect(errors).toEqual([]);
  });
});
