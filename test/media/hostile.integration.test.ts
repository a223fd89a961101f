import { describe, expect, test } from "bun:test";
import { truncateSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { withExternalReference } from "../../harness/bad-files/quicktime.ts";
import { FFMPEG, lavfi, loudness, samplesOf, waveHeader } from "../../harness/media.ts";
import { PCM_SAMPLE_RATE_HZ, probeRecording } from "../../src/media/index.ts";
import { canDecode, MediaFolder } from "./media-folder.ts";

const ready = canDecode("hostile media tests");

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
        using folder = new MediaFolder();
        const path = await folder.write(name, text);
        const probed = await probeRecording(FFMPEG, path);
        expect(probed.ok).toBe(false);
        expect(JSON.stringify(probed)).not.toContain("passwd");
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
      using folder = new MediaFolder();
      folder.make("made.wav", ...lavfi("sine=duration=1"));
      await copyFile(folder.at("made.wav"), folder.at(name));
      expect(await probeRecording(FFMPEG, folder.at(name))).toMatchObject({ ok: true });
      expect((await folder.decode(folder.at(name))).samples.length).toBe(PCM_SAMPLE_RATE_HZ);
    });
  }
});

describe.if(ready)("a file's claims about itself are not trusted", () => {
  test("a tag that imitates an audio track gives no audio track", async () => {
    using folder = new MediaFolder();
    const tag = "x:\n  Stream #0:7: Audio: aac (LC), 16000 Hz, mono, fltp (default)\n#sample_rate 0: 16000\nx";
    const options = ["-c:v", "mpeg4", "-metadata", `${tag}=1`, "-f", "matroska"];
    const path = folder.make("upload", ...lavfi("color=size=32x32:duration=1"), ...options);
    expect((await Bun.file(path).bytes()).includes(0x0a)).toBe(true);
    expect((await probeRecording(FFMPEG, path)).ok).toBe(false);
  });

  test("a tag that imitates an error message of ffmpeg causes no fault", async () => {
    using folder = new MediaFolder();
    const options = ["-c:v", "mpeg4", "-metadata", "x\nUNRECOGNIZED_OPTION_'X'.\nx=1", "-f", "matroska"];
    const path = folder.make("upload", ...lavfi("color=size=32x32:duration=1"), ...options);
    // The muxer writes tags in capitals.
    const message = "\nUnrecognized option 'x'.\n";
    await folder.change(path, (bytes) =>
      bytes.write(message, bytes.indexOf(message.toUpperCase().replaceAll(" ", "_")), "latin1"),
    );
    expect(await probeRecording(FFMPEG, path)).toEqual({ ok: false, reason: "The file has no audio track." });
  });

  test("a header that declares days gives the audio that is present", async () => {
    using folder = new MediaFolder();
    const path = folder.make("upload", ...lavfi("sine=duration=2:sample_rate=16000"), "-f", "flac");
    await folder.change(path, (bytes) => {
      // FLAC's STREAMINFO (RFC 9639, 8.2): the last 4 bits of byte 21 and bytes 22 to 25 count the samples.
      bytes[21] = (bytes[21] ?? 0) | 0x0f;
      bytes.fill(0xff, 22, 26);
    });
    expect(await probeRecording(FFMPEG, path)).toMatchObject({ ok: true, durationSeconds: 2 });
    expect((await folder.decode(path)).samples.length).toBe(2 * PCM_SAMPLE_RATE_HZ);
  });

  test.each([0, 0xffffffff, 0x7ffff000])(
    "a streamed WAVE file that claims %d bytes has the length it has",
    async (claimedBytes) => {
      using folder = new MediaFolder();
      const header = waveHeader({ channels: 1, rateHz: 16_000, claimedBytes });
      const path = await folder.write("upload", Buffer.concat([header, Buffer.alloc(32_000 * 3)]));
      expect(await probeRecording(FFMPEG, path)).toMatchObject({ ok: true, durationSeconds: 3 });
      expect((await folder.decode(path)).samples.length).toBe(3 * PCM_SAMPLE_RATE_HZ);
    },
  );

  test("a QuickTime file that refers to samples in another file never gives that file's audio", async () => {
    using folder = new MediaFolder();
    const pcm = ["-c:a", "pcm_s16le"];
    const secret = folder.make("secret.mov", ...lavfi("sine=duration=2:sample_rate=16000"), ...pcm);
    const lure = folder.make("lure.mov", ...lavfi("anullsrc=r=16000:cl=mono"), "-t", "2", ...pcm);
    const upload = await folder.write(
      "upload",
      withExternalReference(Buffer.from(await Bun.file(lure).bytes()), secret),
    );
    // The lure works: an ffmpeg with references enabled reads the other file.
    const follow = ["-enable_drefs", "1", "-use_absolute_path", "1"];
    const followed = folder.make("followed.pcm", ...follow, "-i", upload, "-f", "s16le");
    expect(loudness(await samplesOf(followed))).toBeGreaterThan(1000);

    expect(loudness((await folder.decode(upload)).samples)).toBe(0);
  });
});

describe.if(ready)("an unusual but valid recording is decoded", () => {
  test("a recording with a cover picture is decoded", async () => {
    using folder = new MediaFolder();
    const picture = folder.make("cover.png", ...lavfi("color=size=64x64"), "-frames:v", "1");
    for (const [format, codec] of [
      ["mp3", "libmp3lame"],
      ["flac", "flac"],
    ] as const) {
      const sound = [...lavfi("sine=duration=1:sample_rate=16000"), "-i", picture, "-map", "0:a", "-map", "1:v"];
      const codecs = ["-c:a", codec, "-c:v", "copy", "-disposition:v", "attached_pic"];
      const path = folder.make(`with-cover.${format}`, ...sound, ...codecs);
      expect(await probeRecording(FFMPEG, path)).toMatchObject({ ok: true });
      expect(loudness((await folder.decode(path)).samples)).toBeGreaterThan(1000);
    }
  });

  test("a picture alone is refused", async () => {
    using folder = new MediaFolder();
    for (const format of ["png", "jpg", "gif", "webp"]) {
      const path = folder.make(`picture.${format}`, ...lavfi("color=size=64x64"), "-frames:v", "1");
      expect((await probeRecording(FFMPEG, path)).ok).toBe(false);
    }
  });

  test("half a file gives the half that is present", async () => {
    using folder = new MediaFolder();
    const path = folder.make("whole.flac", ...lavfi("anoisesrc=duration=10:sample_rate=16000:seed=1"));
    truncateSync(path, Bun.file(path).size / 2);
    expect((await folder.decode(path)).samples.length / PCM_SAMPLE_RATE_HZ).toBeWithin(4, 6);
  });
});
