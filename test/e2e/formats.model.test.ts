import { afterEach, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { available, corpusPath } from "../support/checkout.ts";
import { errorOf } from "../support/client.ts";
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

describe.if(ready)("every file of formats/ ends as its answer says", () => {
  const made = startServerForSuite("formats");
  const { server } = made;
  let taken = 0;

  const filesIn = (folder: string) => readdirSync(join(server.dataDirectory, folder));

  afterEach(async () => {
    expect((await fetch(`${server.origin}/readyz`)).status).toBe(200);
    await server.untilCleanedUp();
    expect(filesIn("incoming")).toEqual([]);
    // An upload is kept for a second try; of what was refused nothing is.
    expect(filesIn("uploads")).toHaveLength(taken);
  });

  for (const { path, answer = "none", transcript } of files) {
    const [verdict, detail] = answer.split(" ");
    test(
      `${path}: ${answer}`,
      server.showingLog(async () => {
        // Finding out the language has its own tests; here it would cost each file a run of the encoder.
        const response = await made.client.send(corpusPath(path), { language: "en" });
        if (verdict === "422") {
          const { error, errors } = await errorOf(response, 422);
          expect(error).toBe("validation_failed");
          expect(errors).toEqual({ [detail ?? ""]: [expect.stringMatching(/^The file [^/]*\.$/)] });
          return;
        }
        expect(response.status).toBe(201);
        taken++;
        const id = response.headers.get("location")?.split("/").at(-1) ?? "";
        const ended = await made.client.waitUntilEnded(id, 100);
        expect(ended.status).toBe(verdict as "completed" | "failed");
        if (verdict === "failed") {
          expect(ended.failure_reason).toBe(detail as "no_speech" | "too_short");
          expect((await errorOf(await made.client.fetch(`/transcriptions/${id}/segments`), 409)).error).toBe(
            "transcription_is_not_ready",
          );
          return;
        }
        const segments = await made.client.segments(id);
        expect(segments).not.toBeEmpty();
        // At 13 kbit/s of GSM "Americans ask" is heard as "America asked"; everything else reads without a fault.
        if (transcript !== null) expect(wordErrorRate(transcript, segments)).toBeLessThanOrEqual(0.1);
      }),
      120_000,
    );
  }

  test("the server came through it all without a fault of its own", () => {
    const faults = server.log.filter(({ event, level }) => level === "error" || event === "engine.worker_exited");
    expect(faults).toEqual([]);
  });
});
