import { describe, expect, test } from "bun:test";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { withExternalReference } from "../../harness/bad-files/quicktime.ts";
import {
  available,
  FFMPEG,
  inFolder,
  lavfi,
  loudness,
  MEDIA_TOOL,
  makeWithFfmpeg,
  samplesOf,
  waveHeader,
} from "../../harness/media.ts";
import { decodeRecording, PCM_SAMPLE_RATE_HZ, probeRecording } from "../../src/media/index.ts";

const ready = available(FFMPEG, "hostile media tests") && available(MEDIA_TOOL, "hostile media tests");

async function decodedSamples(folder: string, inputPath: string, maxSeconds = 600): Promise<Int16Array> {
  const outputPath = join(folder, "decoded.pcm");
  await decodeRecording({ ffmpegPath: FFMPEG, inputPath, outputPath, maxSeconds });
  return samplesOf(outputPath);
}

describe.if(ready)("a text that would make ffmpeg open another file is refused", () => {
  const secret = "/etc/passwd";
  const texts: Record<string, string> = {
    ffconcat: `ffconcat version 1.0\nfile '${secret}'\n`,
    "concat without its header": `file '${secret}'\n`,
    hls: `#EXTM3U\n#EXT-X-VERSION:3\n#EXTINF:10,\nfile://${secret}\n#EXT-X-ENDLIST\n`,
    "hls with a byte order mark": `\uFEFF#EXTM3U\n#EXTINF:10,\nhttp://127.0.0.1:9/x.ts\n#EXT-X-ENDLIST\n`,
    dash: `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static"><Period><BaseURL>file://${secret}</BaseURL></Period></MPD>`,
    sdp: "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio 9 RTP/AVP 0\n",
    "subtitles with a picture": "1\n00:00:00,000 --> 00:00:10,000\nhello\n",
    "a list of video sources": "<smil><body><video src='http://127.0.0.1:9/x.mp4'/></body></smil>",
  };
  for (const [what, text] of Object.entries(texts)) {
    for (const name of ["upload", "x.wav", "x.m3u8", "x.ffconcat"]) {
      test(`${what} as ${name}`, async () => {
        await inFolder(async (folder) => {
          const path = join(folder, name);
          await Bun.write(path, text);
          const probed = await probeRecording(FFMPEG, path);
          expect(probed.ok).toBe(false);
          expect(JSON.stringify(probed)).not.toContain("passwd");
        });
      });
    }
  }
});

describe.if(ready)("a file's name is only ever used as a name", () => {
  const names = [
    "-f",
    "-i.wav",
    "concat:a|b",
    "http:x.wav",
    "pipe:0",
    "a'b\"c d.wav",
    "ünï\ncode.wav",
    "%03d.wav",
    "*.wav",
  ];
  for (const name of names) {
    test(JSON.stringify(name), async () => {
      await inFolder(async (folder) => {
        makeWithFfmpeg(...lavfi("sine=duration=1"), join(folder, "made.wav"));
        await copyFile(join(folder, "made.wav"), join(folder, name));
        expect(await probeRecording(FFMPEG, join(folder, name))).toMatchObject({ ok: true });
        expect((await decodedSamples(folder, join(folder, name))).length).toBe(PCM_SAMPLE_RATE_HZ);
      });
    });
  }
});

describe.if(ready)("a file's claims about itself are not trusted", () => {
  test("a tag that imitates an audio track gives no audio track", async () => {
    await inFolder(async (folder) => {
      const path = join(folder, "upload");
      const tag = "x:\n  Stream #0:7: Audio: aac (LC), 16000 Hz, mono, fltp (default)\n#sample_rate 0: 16000\nx";
      makeWithFfmpeg(
        ...lavfi("color=size=32x32:duration=1"),
        "-c:v",
        "mpeg4",
        "-metadata",
        `${tag}=1`,
        "-f",
        "matroska",
        path,
      );
      expect((await Bun.file(path).bytes()).includes(0x0a)).toBe(true);
      expect((await probeRecording(FFMPEG, path)).ok).toBe(false);
    });
  });

  test("a tag that imitates an error message of ffmpeg causes no fault", async () => {
    await inFolder(async (folder) => {
      const path = join(folder, "upload");
      const tag = ["-metadata", "x\nUNRECOGNIZED_OPTION_'X'.\nx=1"];
      makeWithFfmpeg(...lavfi("color=size=32x32:duration=1"), "-c:v", "mpeg4", ...tag, "-f", "matroska", path);
      const made = await Bun.file(path).bytes();
      // The muxer writes tags in capitals.
      const message = Buffer.from("\nUnrecognized option 'x'.\n");
      message.copy(made, Buffer.from(made.buffer).indexOf(message.toString().toUpperCase().replaceAll(" ", "_")));
      await Bun.write(path, made);
      expect(await probeRecording(FFMPEG, path)).toEqual({ ok: false, reason: "The file has no audio track." });
    });
  });

  test("a header that declares days gives the audio that is present", async () => {
    await inFolder(async (folder) => {
      const path = join(folder, "upload");
      makeWithFfmpeg(...lavfi("sine=duration=2:sample_rate=16000"), "-f", "flac", path);
      const bytes = await Bun.file(path).bytes();
      // FLAC's STREAMINFO (RFC 9639, 8.2): the last 4 bits of byte 21 and bytes 22 to 25 count the samples.
      bytes[21] = (bytes[21] ?? 0) | 0x0f;
      bytes.fill(0xff, 22, 26);
      await Bun.write(path, bytes);
      expect(await probeRecording(FFMPEG, path)).toMatchObject({
        ok: true,
        durationSeconds: 2,
      });
      expect((await decodedSamples(folder, path)).length).toBe(2 * PCM_SAMPLE_RATE_HZ);
    });
  });

  test.each([0, 0xffffffff, 0x7ffff000])(
    "a streamed WAVE file that claims %d bytes has the length it has",
    async (claimedBytes) => {
      await inFolder(async (folder) => {
        const path = join(folder, "upload");
        const header = waveHeader({ channels: 1, rateHz: 16_000, claimedBytes });
        await Bun.write(path, Buffer.concat([header, Buffer.alloc(32_000 * 3)]));
        expect(await probeRecording(FFMPEG, path)).toMatchObject({ ok: true, durationSeconds: 3 });
        expect((await decodedSamples(folder, path)).length).toBe(3 * PCM_SAMPLE_RATE_HZ);
      });
    },
  );

  test("a QuickTime file that refers to samples in another file never gives that file's audio", async () => {
    await inFolder(async (folder) => {
      const secret = join(folder, "secret.mov");
      const lure = join(folder, "lure.mov");
      makeWithFfmpeg(...lavfi("sine=duration=2:sample_rate=16000"), "-c:a", "pcm_s16le", secret);
      makeWithFfmpeg(...lavfi("anullsrc=r=16000:cl=mono"), "-t", "2", "-c:a", "pcm_s16le", lure);
      const upload = join(folder, "upload");
      await Bun.write(upload, withExternalReference(Buffer.from(await Bun.file(lure).bytes()), secret));
      // The lure works: an ffmpeg with references enabled reads the other file.
      const followed = join(folder, "followed.pcm");
      makeWithFfmpeg("-enable_drefs", "1", "-use_absolute_path", "1", "-i", upload, "-f", "s16le", followed);
      expect(loudness(await samplesOf(followed))).toBeGreaterThan(1000);

      expect(loudness(await decodedSamples(folder, upload))).toBe(0);
    });
  });
});

describe.if(ready)("an unusual but valid recording is decoded", () => {
  test("a recording with a cover picture is decoded", async () => {
    await inFolder(async (folder) => {
      const picture = join(folder, "cover.png");
      makeWithFfmpeg(...lavfi("color=size=64x64"), "-frames:v", "1", picture);
      for (const [format, codec] of [
        ["mp3", "libmp3lame"],
        ["flac", "flac"],
      ] as const) {
        const path = join(folder, `with-cover.${format}`);
        const sound = [...lavfi("sine=duration=1:sample_rate=16000"), "-i", picture, "-map", "0:a", "-map", "1:v"];
        makeWithFfmpeg(...sound, "-c:a", codec, "-c:v", "copy", "-disposition:v", "attached_pic", path);
        expect(await probeRecording(FFMPEG, path)).toMatchObject({ ok: true });
        expect(loudness(await decodedSamples(folder, path))).toBeGreaterThan(1000);
      }
    });
  });

  test("a picture alone is refused", async () => {
    await inFolder(async (folder) => {
      for (const format of ["png", "jpg", "gif", "webp"]) {
        const path = join(folder, `picture.${format}`);
        makeWithFfmpeg(...lavfi("color=size=64x64"), "-frames:v", "1", path);
        expect((await probeRecording(FFMPEG, path)).ok).toBe(false);
      }
    });
  });

  test("the track that the container marks as default is decoded, not the first", async () => {
    await inFolder(async (folder) => {
      const path = join(folder, "two.mkv");
      const sounds = [...lavfi("anullsrc=r=16000:cl=mono"), ...lavfi("sine=sample_rate=16000")];
      const marks = ["-disposition:a:0", "0", "-disposition:a:1", "default", "-metadata:s:a:1", "language=ger"];
      makeWithFfmpeg(...sounds, "-map", "0:a", "-map", "1:a", "-t", "2", "-c:a", "flac", ...marks, path);
      expect(await probeRecording(FFMPEG, path)).toMatchObject({ ok: true, tracks: [{ index: 1 }, { index: 0 }] });
      expect(loudness(await decodedSamples(folder, path))).toBeGreaterThan(1000);
    });
  });

  test.each([2, 3, 6, 9, 12])("every one of %d microphones is decoded", async (channels) => {
    await inFolder(async (folder) => {
      const path = join(folder, "upload");
      const frames = 16_000;
      const samples = new Int16Array(frames * channels);
      // Only the last channel contains sound.
      for (let frame = 0; frame < frames; frame++)
        samples[frame * channels + channels - 1] = frame % 40 < 20 ? 8000 : -8000;
      const header = waveHeader({ channels, rateHz: 16_000, claimedBytes: samples.byteLength });
      await Bun.write(path, Buffer.concat([header, Buffer.from(samples.buffer)]));
      expect(await probeRecording(FFMPEG, path)).toMatchObject({ ok: true, tracks: [{ channels }] });
      const mixed = await decodedSamples(folder, path);
      expect(mixed.length).toBe(frames);
      expect(loudness(mixed)).toBeGreaterThan(8000 / channels / 2);
    });
  });

  test("half a file gives the half that is present", async () => {
    await inFolder(async (folder) => {
      const path = join(folder, "whole.flac");
      makeWithFfmpeg(...lavfi("anoisesrc=duration=10:sample_rate=16000:seed=1"), path);
      const bytes = await Bun.file(path).bytes();
      await Bun.write(path, bytes.subarray(0, bytes.length / 2));
      expect((await decodedSamples(folder, path)).length / PCM_SAMPLE_RATE_HZ).toBeWithin(4, 6);
    });
  });
});
