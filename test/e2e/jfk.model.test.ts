import { describe, expect, test } from "bun:test";
import { available, samplePath } from "../../harness/checkout.ts";
import { spokenText } from "../../harness/client.ts";
import { startServerForSuite } from "./suite-server.ts";

const jfk = samplePath("jfk.mp3");
const ready = available("e2e tests of one speaker", jfk);

describe.if(ready)("a recording of one speaker", () => {
  const suite = startServerForSuite("one");
  const { server } = suite;

  test(
    'is transcribed as "ask not what your country can do for you", in English, with one label',
    server.showingLog(async () => {
      const { ended, segments } = await suite.client.transcribe(jfk);
      expect(ended).toMatchObject({
        status: "completed",
        language: "en",
        duration_seconds: 11,
        source: { type: "file", name: "jfk", url: null },
        progress: { step: null, percent: 100, indeterminate: false },
        failure_reason: null,
      });
      expect(spokenText(segments)).toContain("ask not what your country can do for you");
      expect(new Set(segments.map((segment) => segment.speaker))).toEqual(new Set(["A"]));
    }),
    120_000,
  );

  test("is in the metrics of each step with the seconds of its audio", async () => {
    let text = "";
    const metricOf = (name: string) => Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, "m").exec(text)?.[1]);
    // A recording is counted just after its end is stored, where a client may already have seen it.
    await server.until(async () => {
      text = await (await fetch(`${server.origin}/metrics`)).text();
      return (
        metricOf("transcribe_audio_completed_seconds_total") === metricOf("transcribe_audio_received_seconds_total")
      );
    });
    const received = metricOf("transcribe_audio_received_seconds_total");
    expect(received).toBeGreaterThan(10.5);
    expect(metricOf("transcribe_audio_completed_seconds_total")).toBe(received);
    for (const step of ["decode", "detect", "diarize", "finalize"]) {
      const series = `transcribe_step_audio_seconds_total\\{step="${step}",device="cpu",gpu=""\\}`;
      expect([step, metricOf(series)]).toEqual([step, expect.closeTo(received, 3)]);
    }
    for (const step of ["decode", "detect", "language", "transcribe", "diarize", "finalize"]) {
      expect([step, text.match(`transcribe_step_seconds_total{step="${step}",device=`) !== null]).toEqual([step, true]);
    }
    expect(text).toContain('transcribe_recordings_completed_total{language="en"}');
    expect(metricOf("transcribe_upload_bytes_total")).toBeGreaterThan(1000);
    expect(metricOf("transcribe_engine_worker_resident_memory_bytes")).toBeGreaterThan(100e6);
  });
});
