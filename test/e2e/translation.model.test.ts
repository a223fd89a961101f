import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { available, corpusPath, samplePath } from "../../harness/checkout.ts";
import { bodyOf, TestClient } from "../../harness/client.ts";
import { segmentPageContract } from "../../harness/contract.ts";
import { MEDIA_TOOL, makeWithFfmpeg } from "../../harness/media.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { storedParts } from "../support/interrupted-recording.ts";
import { startServerForSuite } from "./suite-server.ts";

const jfk = samplePath("jfk.mp3");
const german = [4, 1, 0, 3].map((number) => corpusPath(`single/de-fleurs-00${number}.ogg`));
const ready = available("e2e tests of translations", jfk, ...german, MEDIA_TOOL);

const textOf = (segments: readonly { readonly text: string }[]) => segments.map(({ text }) => text).join(" ");

async function translationOf(client: TestClient, id: string) {
  const answer = await client.fetch(`/transcriptions/${id}/translation?words=true&limit=1000`);
  return (await bodyOf(answer, 200, segmentPageContract)).data;
}

describe.if(ready)("a recording that is translated", () => {
  const suite = startServerForSuite("translation");
  const directory = temporaryDirectory();
  afterAll(() => directory[Symbol.dispose]());
  const parts = () =>
    suite.server.log
      .filter(({ event, step }) => event === "recording.part_finished" && step === "translate")
      .map(({ part }) => Number(part));

  test("keeps its German transcript and gets an English text with times, of which a killed server repeats nothing", async () => {
    const { server } = suite;
    const path = join(directory.path, "german.wav");
    const inputs = german.flatMap((file) => ["-i", file]);
    makeWithFfmpeg(...inputs, "-filter_complex", `concat=n=${german.length}:v=0:a=1`, path);
    const { id } = await suite.client.create(path, { task: "translate" });
    await server.until(async () => storedParts(server, "translate", id).length > 0, 10, 400_000);
    const stored = storedParts(server, "translate", id).length;
    await server.killHard();
    await server.start();
    const client = new TestClient(server.baseUrl, suite.client.key);
    expect(await client.waitUntilEnded(id, 100)).toMatchObject({ status: "completed", language: "de" });
    const translation = await translationOf(client, id);
    expect(textOf(await client.segments(id))).toMatch(/Höhle.*Dinosaurier/);
    expect(textOf(translation)).toMatch(/mountains.*isolated from the rest of the world/);
    expect(textOf(translation)).not.toMatch(/\b(?:und|der|die|ist)\b/);
    expect(translation.every(({ start, end, speaker }) => start < end && /^[A-Z]$/.test(speaker))).toBe(true);
    const words = translation.flatMap((segment) => segment.words ?? []);
    expect(words.map(({ start }) => start)).toEqual(words.map(({ start }) => start).toSorted((a, b) => a - b));
    expect(parts().length).toBeGreaterThan(stored);
    expect(parts()).toEqual([...new Set(parts())]);
    const subtitles = await client.fetch(`/transcriptions/${id}/exports/srt?text=translation`);
    expect(await subtitles.text()).toMatch(/^1\n00:00:\d\d,\d{3} --> /);
  }, 900_000);

  test("in English has its transcript as its translation, without a second pass", async () => {
    const { server } = suite;
    const client = new TestClient(server.baseUrl, suite.client.key);
    const translatedSeconds = async () => {
      const metrics = await (await fetch(`${server.origin}/metrics`)).text();
      return /^transcribe_step_audio_seconds_total\{step="translate",.*\} (\S+)$/m.exec(metrics)?.[1] ?? "0";
    };
    const before = await translatedSeconds();
    const { ended, segments } = await client.transcribe(jfk, { task: "translate" });
    expect(textOf(await translationOf(client, ended.id))).toBe(textOf(segments));
    expect(await translatedSeconds()).toBe(before);
  }, 240_000);
});
