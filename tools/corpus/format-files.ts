import { copyFile, truncate } from "node:fs/promises";
import { join } from "node:path";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { runFfmpeg } from "../../harness/sample-recordings.ts";

/** A file of `formats/` as ffmpeg writes it, from the speech of one speaker and, for a second track, of another. */
interface EncodedFile {
  readonly name: string;
  readonly options: readonly string[];
  /** Inputs before the options. Default: the speech. */
  readonly inputs?: readonly string[];
}

/** A silent picture that moves, of the speech's length or five seconds. */
const picture = (seconds: number) => ["-f", "lavfi", "-i", `testsrc=size=320x180:rate=10:duration=${seconds}`];
const h264 = ["-c:v", "libx264", "-pix_fmt", "yuv420p"];
const aac = ["-c:a", "aac", "-b:a", "48k"];
const SPEECH_SECONDS = 11;

function encodedFiles(speech: string, otherSpeech: string): EncodedFile[] {
  const video = ["-i", speech, ...picture(SPEECH_SECONDS)];
  return [
    { name: "jfk.flac", options: ["-c:a", "flac"] },
    { name: "jfk Ünïcode & spaces (1).wav", options: ["-c:a", "pcm_s16le"] },
    { name: "jfk-24bit.wav", options: ["-c:a", "pcm_s24le"] },
    { name: "jfk-44k1-stereo.wav", options: ["-ar", "44100", "-ac", "2", "-c:a", "pcm_s16le"] },
    { name: "jfk-8k-mulaw.wav", options: ["-ar", "8000", "-c:a", "pcm_mulaw"] },
    { name: "jfk-adpcm.wav", options: ["-c:a", "adpcm_ms"] },
    { name: "jfk.mp3", options: ["-c:a", "libmp3lame", "-b:a", "64k"] },
    { name: "jfk-vbr.mp3", options: ["-ar", "44100", "-ac", "2", "-c:a", "libmp3lame", "-q:a", "6"] },
    {
      name: "jfk-two-audio-tracks.mkv",
      inputs: ["-i", speech, "-i", otherSpeech],
      options: ["-map", "0:a", "-map", "1:a", ...aac, "-metadata:s:0", "language=eng", "-metadata:s:1", "language=ger"],
    },
    { name: "jfk-video.mov", inputs: video, options: [...h264, "-c:a", "aac", "-b:a", "64k"] },
    { name: "jfk-video.mp4", inputs: video, options: [...h264, "-c:a", "aac", "-b:a", "64k"] },
    { name: "jfk-video.webm", inputs: video, options: ["-c:v", "libvpx", "-c:a", "libopus", "-b:a", "24k"] },
    { name: "bad-video-without-audio.mp4", inputs: picture(5), options: h264 },
    { name: "jfk-vorbis.ogg", options: ["-c:a", "libvorbis", "-b:a", "48k"] },
    { name: "jfk.aac", options: [...aac, "-f", "adts"] },
    { name: "jfk.aiff", options: ["-c:a", "pcm_s16be"] },
    { name: "jfk.m4a", options: aac },
    { name: "jfk.opus", options: ["-c:a", "libopus", "-b:a", "16k"] },
    { name: "jfk.opus.ogg", options: ["-c:a", "libopus", "-b:a", "24k", "-f", "ogg"] },
    { name: "jfk.webm", options: ["-c:a", "libopus", "-b:a", "24k"] },
    { name: "jfk.wma", options: ["-ar", "44100", "-c:a", "wmav2", "-b:a", "48k"] },
    {
      name: "playlist-hls.m3u8",
      options: [
        ...aac,
        "-f",
        "hls",
        "-hls_time",
        "4",
        "-hls_playlist_type",
        "vod",
        "-hls_segment_filename",
        "hls-seg%d.ts",
      ],
    },
    {
      name: "nospeech-pink-noise-20s.flac",
      inputs: ["-f", "lavfi", "-i", "anoisesrc=color=pink:seed=1:amplitude=0.097:duration=20:sample_rate=16000"],
      options: ["-sample_fmt", "s16", "-c:a", "flac"],
    },
    {
      name: "nospeech-silence-10s.wav",
      inputs: ["-f", "lavfi", "-i", "anullsrc=r=16000:cl=mono"],
      options: ["-t", "10", "-c:a", "pcm_s16le"],
    },
    { name: "tiny-50ms.wav", options: ["-t", "0.05", "-c:a", "pcm_s16le"] },
  ];
}

/** Files that are the beginning of another file. */
const beginnings = [
  { name: "bad-truncated.mp3", of: "jfk.mp3", bytes: 35_000 },
  { name: "bad-truncated-no-moov.mp4", of: "jfk-video.mp4", bytes: 51_000 },
  // It ends before the chunk of the samples.
  { name: "bad-header-only.wav", of: "jfk-44k1-stereo.wav", bytes: 36 },
  { name: "bad-empty.wav", of: "tiny-50ms.wav", bytes: 0 },
] as const;

/** Files that have the bytes of another file, under a name that misleads. */
const copies = [
  { name: "jfk-no-extension", of: "jfk.flac" },
  { name: "jfk-mp3-named.wav", of: "jfk.mp3" },
] as const;

const localPlaylist = "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10.0,\nfile:///etc/hostname\n#EXT-X-ENDLIST\n";
const texts: Readonly<Record<string, string>> = {
  "bad-text.mp3": "This is a plain text file, not an MP3.\n".repeat(40),
  "playlist-hls-localfile.m3u8": localPlaylist,
  "playlist-hls-localfile-renamed.mp3": localPlaylist,
  "playlist-hls-remote.m3u8":
    "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:10\n#EXTINF:10.0,\nhttp://127.0.0.1:9/segment0.ts\n#EXT-X-ENDLIST\n",
  "playlist.m3u": "#EXTM3U\n#EXTINF:11,JFK\njfk.mp3\n",
  "playlist.pls": "[playlist]\nNumberOfEntries=1\nFile1=jfk.mp3\nTitle1=JFK\nLength1=11\nVersion=2\n",
};

/**
 * Writes the files of `formats/`: one voice in each format, damaged files, files without speech, and playlists.
 * @param speech a recording of 11 s
 * @param otherSpeech the second track of a file with two
 */
export async function makeFormatFiles(folder: string, speech: string, otherSpeech: string): Promise<void> {
  for (const { name, inputs = ["-i", speech], options } of encodedFiles(speech, otherSpeech)) {
    await runFfmpeg([...inputs, "-map_metadata", "-1", "-bitexact", ...options, name], folder);
  }
  for (const { name, of } of copies) await copyFile(join(folder, of), join(folder, name));
  for (const { name, of, bytes } of beginnings) {
    await copyFile(join(folder, of), join(folder, name));
    await truncate(join(folder, name), bytes);
  }
  for (const [name, text] of Object.entries(texts)) await Bun.write(join(folder, name), text);
  await runFfmpeg(
    [
      "-f",
      "lavfi",
      "-i",
      "testsrc=size=64x64",
      "-frames:v",
      "1",
      "-f",
      "image2",
      "-c:v",
      "png",
      "bad-image-renamed.mp3",
    ],
    folder,
  );
  const random = randomNumbers(1);
  const noise = Uint8Array.from({ length: 20_000 }, () => Math.floor(random() * 256));
  await Bun.write(join(folder, "bad-random-bytes.flac"), noise);
}
