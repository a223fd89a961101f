import { type Check, ok, problem, warning } from "../check.ts";
import { filesOf } from "../files-of.ts";

/** Formats by common name, each with the demuxer and the decoders (any of them is enough) by their names in ffmpeg. */
const formats: readonly (readonly [string, string, string])[] = [
  ["WAV", "wav", "pcm_s16le"],
  ["MP3", "mp3", "mp3float|mp3"],
  ["M4A and MP4", "mov", "aac"],
  ["Apple Lossless", "mov", "alac"],
  ["FLAC", "flac", "flac"],
  ["Ogg Vorbis", "ogg", "vorbis|libvorbis"],
  ["Opus and WebM", "matroska", "opus|libopus"],
  ["telephone recordings (AMR)", "amr", "amrnb|libopencore_amrnb"],
  ["Windows Media", "asf", "wmav2"],
];

export const ffmpegFormats: Check = {
  id: "ffmpeg.formats",
  title: "Formats",
  explanation:
    "Whether this ffmpeg was built with the containers and codecs that people send: MP3, M4A and MP4, WAV, FLAC, Ogg, Opus and WebM, AMR, Windows Media.",
  async run(context) {
    const { ffmpeg } = filesOf(context);
    const [demuxers, decoders] = await Promise.all([
      context.machine.run([ffmpeg, "-hide_banner", "-demuxers"]),
      context.machine.run([ffmpeg, "-hide_banner", "-decoders"]),
    ]);
    if (demuxers?.exitCode !== 0 || decoders?.exitCode !== 0) {
      return problem("ffmpeg does not say what it can read", { advice: "See ffmpeg.program." });
    }
    const readable = namesIn(demuxers.output);
    const decodable = namesIn(decoders.output);
    const missing = formats
      .filter(([, demuxer, codecs]) => !readable.has(demuxer) || !codecs.split("|").some((name) => decodable.has(name)))
      .map(([name]) => name);
    if (missing.length === 0) return ok(formats.map(([name]) => name).join(", "));
    return warning(`it can't read ${missing.join(", ")}`, {
      advice: "Recordings in these formats are refused as no recordings. Use a full build of ffmpeg.",
    });
  },
};

/** Parses a list that ffmpeg prints. Each line has flags, comma-separated names and a description. */
function namesIn(output: string): Set<string> {
  return new Set(output.split("\n").flatMap((line) => /^ \S+\s+(\S+)/.exec(line)?.[1]?.split(",") ?? []));
}
