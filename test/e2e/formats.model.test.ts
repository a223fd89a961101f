import { afterEach, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { available, corpusPath } from "../../harness/checkout.ts";
import { errorOf } from "../../harness/client.ts";
import { wordErrorRate } from "./accuracy.ts";
import { startServerForSuite } from "./suite-server.ts";

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

describe.if(ready)("a file of the format corpus", () => {
  const suite = startServerForSuite("formats");
  const { server } = suite;
  let accepted = 0;

  const filesIn = (folder: string) => readdirSync(join(server.dataDirectory, folder));

  afterEach(async () => {
    expect((await fetch(`${server.origin}/readyz`)).status).toBe(200);
    await server.untilCleanedUp();
    expect(filesIn("incoming")).toEqual([]);
    // Accepted uploads stay stored for a retry. Refused uploads are removed.
    expect(filesIn("uploads")).toHaveLength(accepted);
  });

  for (const { path, answer = "none", transcript } of files) {
    const [verdict, detail] = answer.split(" ");
    test(
      `${path} has the result of its manifest: ${answer}`,
      server.showingLog(async () => {
        // Language detection has its own tests, and would cost another run of the encoder for each file.
        const response = await suite.client.send(corpusPath(path), { language: "en" });
        if (verdict === "422") {
          const { error, errors } = await errorOf(response, 422);
          expect(error).toBe("validation_failed");
          expect(errors).toEqual({ [detail ?? ""]: [expect.stringMatching(/^The file [^/]*\.$/)] });
          return;
        }
        expect(response.status).toBe(201);
        accepted++;
        const id = response.headers.get("location")?.split("/").at(-1) ?? "";
        const ended = await suite.client.waitUntilEnded(id, 100);
        expect(ended.status).toBe(verdict as "completed" | "failed");
        if (verdict === "failed") {
          expect(ended.failure_reason).toBe(detail as "no_speech" | "too_short");
          expect((await errorOf(await suite.client.fetch(`/transcriptions/${id}/segments`), 409)).error).toBe(
            "transcription_is_not_ready",
          );
          return;
        }
        const segments = await suite.client.segments(id);
        expect(segments).not.toBeEmpty();
        // At 13 kbit/s of GSM, "Americans ask" is recognized as "America asked". All other files have no word errors.
        if (transcript !== null) expect(wordErrorRate(transcript, segments)).toBeLessThanOrEqual(0.1);
      }),
      120_000,
    );
  }

  test("causes no error of the server and no exit of its worker", () => {
    const errors = server.log.filter(({ event, level }) => level === "error" || event === "engine.worker_exited");
    expect(errors).toEqual([]);
  });
});
