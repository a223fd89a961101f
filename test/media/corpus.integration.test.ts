import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { corpusPath } from "../../harness/checkout.ts";
import { likeness } from "../../harness/format-matrix.ts";
import { available, FFMPEG, inFolder, MEDIA_TOOL, makeWithFfmpeg, namesIn, samplesOf } from "../../harness/media.ts";
import { decodeRecording, PCM_SAMPLE_RATE_HZ, probeRecording } from "../../src/media/index.ts";

setDefaultTimeout(60_000);

const ManifestEntry = Type.Object({
  path: Type.String(),
  duration_seconds: Type.Union([Type.Number(), Type.Null()]),
  answer: Type.Optional(Type.String()),
});

const ready = [FFMPEG, MEDIA_TOOL, corpusPath("")].every((path) => available(path, "media corpus tests"));
const entries = ready ? Value.Parse(Type.Array(ManifestEntry), await Bun.file(corpusPath("manifest.json")).json()) : [];

/** The part of the API's final answer that probing and decoding determine. */
const DECODED_LENGTH: Record<string, (seconds: number, claimed: number | null) => void> = {
  completed: (seconds, claimed) => expect(Math.abs(seconds - (claimed ?? 0))).toBeLessThan(0.45),
  "completed with what can be decoded": (seconds) => expect(seconds).toBeWithin(4, 5),
  "failed too_short": (seconds) => expect(seconds).toBeWithin(0.001, 0.5),
  "failed no_speech": () => {},
};

/** The speech of all files in formats/ that have any, decoded by another ffmpeg than the product's. */
const speech = ready
  ? await inFolder(async (folder) => {
      const raw = ["-f", "s16le", "-ac", "1", "-ar", String(PCM_SAMPLE_RATE_HZ)];
      makeWithFfmpeg("-i", corpusPath("formats/jfk.flac"), ...raw, join(folder, "speech.pcm"));
      return samplesOf(join(folder, "speech.pcm"));
    })
  : new Int16Array();
/** Seconds at which a part of the speech starts. All other files have it from its beginning. */
const PART_STARTS: Record<string, number> = { "formats/hls-seg1.ts": 3.968, "formats/hls-seg2.ts": 7.936 };
/** Measured: 0.988 for Opus at 16 kbit/s, more than 0.995 for all others except GSM, and 0.2 for another part. */
const leastLikeness = 0.98;
/** Measured: 0.947 at the 13 kbit/s of GSM. */
const leastLikenessOfGsm = 0.93;
/** Codecs delay the sound by at most 1024 samples. */
const maxDelaySamples = 1600;

describe("every file of the corpus has its expected answer and sound, under the name of a stored upload", () => {
  for (const entry of entries) {
    const answer = entry.answer ?? (entry.path.startsWith("formats/") ? undefined : "completed");
    test(`${entry.path}: ${answer}`, async () => {
      await inFolder(async (folder) => {
        // Uploads are stored without an extension, so only the bytes count.
        const stored = join(folder, "upload");
        await copyFile(corpusPath(entry.path), stored);
        const probed = await probeRecording(FFMPEG, stored);
        if (answer === "422 file") {
          expect(probed).toEqual({ ok: false, reason: expect.stringMatching(/^The file .*\.$/) });
          return;
        }
        expect(probed.ok).toBe(true);
        const outputPath = join(folder, "decoded.pcm");
        const decoded = await decodeRecording({ ffmpegPath: FFMPEG, inputPath: stored, outputPath, maxSeconds: 600 });
        expect(Bun.file(outputPath).size).toBe(decoded.sampleCount * 2);
        const check = DECODED_LENGTH[answer ?? ""];
        expect(check).toBeDefined();
        check?.(decoded.sampleCount / PCM_SAMPLE_RATE_HZ, entry.duration_seconds);
        if (entry.path.startsWith("formats/") && answer?.startsWith("completed")) {
          const around = Math.round((PART_STARTS[entry.path] ?? 0) * PCM_SAMPLE_RATE_HZ);
          const alike = likeness(await samplesOf(outputPath), speech, { around, mostSamples: maxDelaySamples });
          expect(alike).toBeGreaterThan(entry.path.includes("gsm") ? leastLikenessOfGsm : leastLikeness);
        }
        expect(await namesIn(folder)).toEqual(["decoded.pcm", "upload"]);
      });
    });
  }
});

describe.if(ready)("particular files of the corpus", () => {
  const file = (name: string) => corpusPath(`formats/${name}`);

  test("a header without samples is accepted and decodes to nothing", async () => {
    await inFolder(async (folder) => {
      const inputPath = file("bad-header-only.wav");
      expect(await probeRecording(FFMPEG, inputPath)).toMatchObject({ ok: true, durationSeconds: 0 });
      const outputPath = join(folder, "decoded.pcm");
      const decoded = await decodeRecording({ ffmpegPath: FFMPEG, inputPath, outputPath, maxSeconds: 600 });
      expect(decoded.sampleCount).toBe(0);
      expect(Bun.file(outputPath).size).toBe(0);
    });
  });

  test("a playlist is refused as a playlist, whatever its name", async () => {
    for (const name of ["playlist.m3u", "playlist.pls", "playlist-hls.m3u8", "playlist-hls-localfile-renamed.mp3"]) {
      expect(await probeRecording(FFMPEG, file(name))).toEqual({
        ok: false,
        reason: expect.stringContaining("playlist"),
      });
    }
  });

  test("a video without audio is refused because it has no audio track", async () => {
    expect(await probeRecording(FFMPEG, file("bad-video-without-audio.mp4"))).toEqual({
      ok: false,
      reason: "The file has no audio track.",
    });
  });

  test("the first of two audio tracks is decoded", async () => {
    const probed = await probeRecording(FFMPEG, file("jfk-two-audio-tracks.mkv"));
    expect(probed).toMatchObject({ ok: true, tracks: [{ index: 0 }, { index: 1 }] });
    // The other track is a sentence of 5.3 s.
    await inFolder(async (folder) => {
      const outputPath = join(folder, "decoded.pcm");
      const inputPath = file("jfk-two-audio-tracks.mkv");
      const decoded = await decodeRecording({ ffmpegPath: FFMPEG, inputPath, outputPath, maxSeconds: 600 });
      expect(decoded.sampleCount / PCM_SAMPLE_RATE_HZ).toBeGreaterThan(10.9);
    });
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
