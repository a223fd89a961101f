import { copyFile, truncate } from "node:fs/promises";
import { join } from "node:path";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { runFfmpeg } from "../../harness/sample-recordings.ts";

const SPEECH_SECONDS = 11;
/** A silent picture that moves. */
const picture = (seconds: number) => `-f lavfi -i testsrc=size=320x180:rate=10:duration=${seconds}`;
const h264 = "-c:v libx264 -pix_fmt yuv420p";
const aac = "-c:a aac -b:a 48k";
const opus = "-c:a libopus -b:a 24k";
const hls = "-f hls -hls_time 4 -hls_playlist_type vod -hls_segment_filename hls-seg%d.ts";

/** Files that ffmpeg makes: the name, the options, and the inputs if they are others than the speech of one speaker. */
const encodedFiles: readonly (readonly [name: string, options: string, inputs?: string])[] = [
  ["jfk.flac", "-c:a flac"],
  ["jfk Ünïcode & spaces (1).wav", "-c:a pcm_s16le"],
  ["jfk-24bit.wav", "-c:a pcm_s24le"],
  ["jfk-44k1-stereo.wav", "-ar 44100 -ac 2 -c:a pcm_s16le"],
  ["jfk-8k-mulaw.wav", "-ar 8000 -c:a pcm_mulaw"],
  ["jfk-adpcm.wav", "-c:a adpcm_ms"],
  ["jfk.mp3", "-c:a libmp3lame -b:a 64k"],
  ["jfk-vbr.mp3", "-ar 44100 -ac 2 -c:a libmp3lame -q:a 6"],
  [
    "jfk-two-audio-tracks.mkv",
    `-map 0:a -map 1:a ${aac} -metadata:s:0 language=eng -metadata:s:1 language=ger`,
    "SPEECH OTHER",
  ],
  ["jfk-video.mov", `${h264} -c:a aac -b:a 64k`, `SPEECH ${picture(SPEECH_SECONDS)}`],
  ["jfk-video.mp4", `${h264} -c:a aac -b:a 64k`, `SPEECH ${picture(SPEECH_SECONDS)}`],
  ["jfk-video.webm", `-c:v libvpx ${opus}`, `SPEECH ${picture(SPEECH_SECONDS)}`],
  ["bad-video-without-audio.mp4", h264, picture(5)],
  ["jfk-vorbis.ogg", "-c:a libvorbis -b:a 48k"],
  ["jfk.aac", `${aac} -f adts`],
  ["jfk.aiff", "-c:a pcm_s16be"],
  ["jfk.m4a", aac],
  ["jfk.opus", "-c:a libopus -b:a 16k"],
  ["jfk.opus.ogg", `${opus} -f ogg`],
  ["jfk.webm", opus],
  ["jfk.wma", "-ar 44100 -c:a wmav2 -b:a 48k"],
  ["playlist-hls.m3u8", `${aac} ${hls}`],
  [
    "nospeech-pink-noise-20s.flac",
    "-sample_fmt s16 -c:a flac",
    "-f lavfi -i anoisesrc=color=pink:seed=1:amplitude=0.097:duration=20:sample_rate=16000",
  ],
  ["nospeech-silence-10s.wav", "-t 10 -c:a pcm_s16le", "-f lavfi -i anullsrc=r=16000:cl=mono"],
  ["tiny-50ms.wav", "-t 0.05 -c:a pcm_s16le"],
];

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
  const places: Readonly<Record<string, readonly string[]>> = { SPEECH: ["-i", speech], OTHER: ["-i", otherSpeech] };
  for (const [name, options, inputs = "SPEECH"] of encodedFiles) {
    const sources = inputs.split(" ").flatMap((word) => places[word] ?? [word]);
    await runFfmpeg([...sources, "-map_metadata", "-1", "-bitexact", ...options.split(" "), name], folder);
  }
  for (const { name, of } of copies) await copyFile(join(folder, of), join(folder, name));
  for (const { name, of, bytes } of beginnings) {
    await copyFile(join(folder, of), join(folder, name));
    await truncate(join(folder, name), bytes);
  }
  for (const [name, text] of Object.entries(texts)) await Bun.write(join(folder, name), text);
  const image = "-f lavfi -i testsrc=size=64x64 -frames:v 1 -f image2 -c:v png bad-image-renamed.mp3";
  await runFfmpeg(image.split(" "), folder);
  const random = randomNumbers(1);
  const noise = Uint8Array.from({ length: 20_000 }, () => Math.floor(random() * 256));
  await Bun.write(join(folder, "bad-random-bytes.flac"), noise);
}
