import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { copyFile } from "node:fs/promises";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { corpusPath } from "../../harness/checkout.ts";
import { likeness } from "../../harness/format-matrix.ts";
import { FFMPEG, samplesOf } from "../../harness/media.ts";
import { PCM_SAMPLE_RATE_HZ, probeRecording } from "../../src/media/index.ts";
import { canDecode, MediaFolder } from "./media-folder.ts";

setDefaultTimeout(60_000);

const ManifestEntry = Type.Object({
  path: Type.String(),
  duration_seconds: Type.Union([Type.Number(), Type.Null()]),
  answer: Type.Optional(Type.String()),
});

const ready = canDecode("media corpus tests", corpusPath(""));
const entries = ready ? Value.Parse(Type.Array(ManifestEntry), await Bun.file(corpusPath("manifest.json")).json()) : [];

/** The part of the API's final answer that probing and decoding determine. */
const DECODED_LENGTH: Record<string, (seconds: number, claimed: number | null) => void> = {
  completed: (seconds, claimed) => expect(Math.abs(seconds - (claimed ?? 0))).toBeLessThan(0.45),
  "completed with what can be decoded": (seconds) => expect(seconds).toBeWithin(4, 5),
  "failed too_short": (seconds) => expect(seconds).toBeWithin(0.001, 0.5),
  "failed no_speech": () => {},
};

/** The speech of all files in formats/ that have any, decoded by another ffmpeg than the product's. */
const speech = ready ? await decodeWithOther() : new Int16Array();
/** Seconds at which a part of the speech starts. All other files have it from its beginning. */
const PART_STARTS: Record<string, number> = { "formats/hls-seg1.ts": 3.968, "formats/hls-seg2.ts": 7.936 };
/** Measured: 0.988 for Opus at 16 kbit/s, more than 0.995 for all others except GSM, and 0.2 for another part. */
const leastLikeness = 0.98;
/** Measured: 0.947 at the 13 kbit/s of GSM. */
const leastLikenessOfGsm = 0.93;
/** Codecs delay the sound by at most 1024 samples. */
const maxDelaySamples = 1600;

async function decodeWithOther(): Promise<Int16Array> {
  using folder = new MediaFolder();
  const raw = ["-f", "s16le", "-ac", "1", "-ar", String(PCM_SAMPLE_RATE_HZ)];
  return await samplesOf(folder.make("speech.pcm", "-i", corpusPath("formats/jfk.flac"), ...raw));
}

describe("every file of the corpus has its expected answer and sound, under the name of a stored upload", () => {
  for (const entry of entries) {
    const answer = entry.answer ?? (entry.path.startsWith("formats/") ? undefined : "completed");
    test(`${entry.path}: ${answer}`, async () => {
      using folder = new MediaFolder();
      // Uploads are stored without an extension, so only the bytes count.
      const stored = folder.at("upload");
      await copyFile(corpusPath(entry.path), stored);
      const probed = await probeRecording(FFMPEG, stored);
      if (answer === "422 file") {
        expect(probed).toEqual({ ok: false, reason: expect.stringMatching(/^The file .*\.$/) });
        return;
      }
      expect(probed.ok).toBe(true);
      const { samples, sampleCount } = await folder.decode(stored);
      expect(samples.length).toBe(sampleCount);
      const check = DECODED_LENGTH[answer ?? ""];
      expect(check).toBeDefined();
      check?.(sampleCount / PCM_SAMPLE_RATE_HZ, entry.duration_seconds);
      if (entry.path.startsWith("formats/") && answer?.startsWith("completed")) {
        const around = Math.round((PART_STARTS[entry.path] ?? 0) * PCM_SAMPLE_RATE_HZ);
        const alike = likeness(samples, speech, { around, mostSamples: maxDelaySamples });
        expect(alike).toBeGreaterThan(entry.path.includes("gsm") ? leastLikenessOfGsm : leastLikeness);
      }
      expect(await folder.names()).toEqual(["decoded.pcm", "upload"]);
    });
  }
});

describe.if(ready)("particular files of the corpus", () => {
  const file = (name: string) => corpusPath(`formats/${name}`);

  test("a header without samples is accepted and decodes to nothing", async () => {
    using folder = new MediaFolder();
    const inputPath = file("bad-header-only.wav");
    expect(await probeRecording(FFMPEG, inputPath)).toMatchObject({ ok: true, durationSeconds: 0 });
    const { samples, sampleCount } = await folder.decode(inputPath);
    expect([samples.length, sampleCount]).toEqual([0, 0]);
  });

  test.each([
    ["playlist.m3u", "playlist"],
    ["playlist.pls", "playlist"],
    ["playlist-hls.m3u8", "playlist"],
    ["playlist-hls-localfile-renamed.mp3", "playlist"],
    ["bad-video-without-audio.mp4", "The file has no audio track."],
  ])("%s is refused with its reason, whatever its name: %s", async (name, reason) => {
    expect(await probeRecording(FFMPEG, file(name))).toEqual({ ok: false, reason: expect.stringContaining(reason) });
  });

  test("the first of two audio tracks is decoded", async () => {
    using folder = new MediaFolder();
    const path = file("jfk-two-audio-tracks.mkv");
    expect(await probeRecording(FFMPEG, path)).toMatchObject({ ok: true, tracks: [{ index: 0 }, { index: 1 }] });
    // The other track is a sentence of 5.3 s.
    expect((await folder.decode(path)).sampleCount / PCM_SAMPLE_RATE_HZ).toBeGreaterThan(10.9);
  });

  test("a two-channel call is probed with its two channels", async () => {
    const call = corpusPath("dialogue/dlg-11-2spk-stereo-call.wav");
    expect(await probeRecording(FFMPEG, call)).toMatchObject({
      ok: true,
      tracks: [{ channels: 2 }],
      durationIsEstimate: false,
    });
  });
});
