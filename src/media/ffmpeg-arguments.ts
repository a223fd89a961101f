import { PCM_SAMPLE_RATE_HZ } from "./pcm.ts";
import type { ProbedRecording } from "./probe.ts";

// Demuxers of the formats that users upload. Deliberately excluded: everything that opens other files or addresses
// (hls, dash, concat, imf, image sequences, sdp, rtsp, …), pictures, subtitles and game music. Also excluded are
// headerless formats that ffmpeg recognizes only by a file extension, which a stored upload does not have.
const DEMUXERS = [
  "aac,ac3,aiff,amr,ape,asf,au,avi,caf,dsf,dss,dts,eac3,flac,flv,gsm,iff,loas,matroska,webm,mlp,mov,mp4,m4a,3gp,3g2",
  "mp3,mpc,mpc8,mpeg,mpegts,mxf,nistsphere,ogg,oma,qcp,rm,tak,truehd,tta,voc,w64,wav,wv",
].join(",");

// Audio decoders only. ffmpeg then never probes the codec parameters of a picture track, so no decoder processes a
// hostile video stream or cover image. Decoders of game formats and of formats that the demuxers above cannot contain
// are excluded.
const DECODERS = [
  "aac,aac_fixed,aac_latm,ac3,ac3_fixed,alac,als,amrnb,amrwb,ape,aptx,aptx_hd,atrac1,atrac3,atrac3al,atrac3plus,atrac3plusal",
  "g722,g726,g726le,adpcm_ima_oki,adpcm_ima_qt,adpcm_ima_wav,adpcm_ms,adpcm_swf,adpcm_yamaha",
  "cook,dca,dolby_e,dsd_lsbf,dsd_lsbf_planar,dsd_msbf,dsd_msbf_planar,dss_sp,dst,eac3,evrc,flac,g723_1,g728,g729,gsm,gsm_ms",
  "ilbc,libilbc,libgsm,libgsm_ms,libopencore_amrnb,libopencore_amrwb,libopus,libspeex,libvorbis,mace3,mace6,metasound,mlp",
  "mp1,mp1float,mp2,mp2float,mp3,mp3float,mp3adu,mp3adufloat,mp3on4,mp3on4float,mpc7,mpc8,nellymoser,opus,qcelp,qdm2,qdmc",
  "pcm_alaw,pcm_bluray,pcm_dvd,pcm_f16le,pcm_f24le,pcm_f32be,pcm_f32le,pcm_f64be,pcm_f64le,pcm_mulaw,pcm_s16be",
  "pcm_s16be_planar,pcm_s16le,pcm_s16le_planar,pcm_s24be,pcm_s24le,pcm_s24le_planar,pcm_s32be,pcm_s32le,pcm_s32le_planar",
  "pcm_s64be,pcm_s64le,pcm_s8,pcm_s8_planar,pcm_u16be,pcm_u16le,pcm_u24be,pcm_u24le,pcm_u32be,pcm_u32le,pcm_u8,pcm_vidc",
  "real_144,real_288,ralf,s302m,shorten,sipr,speex,tak,truehd,truespeech,tta,twinvq,vorbis,wavpack",
  "wmalossless,wmapro,wmav1,wmav2,wmavoice",
].join(",");

/**
 * Returns the arguments that open one stored file as input: only the protocol `file`, the demuxers and decoders above,
 * and one thread. One thread is used because the memory limit counts what every thread reserves. The prefix `file:`
 * ensures that a name like `concat:…` or `-f` is read as a file name.
 */
export function inputArguments(path: string): string[] {
  return [
    ...["-protocol_whitelist", "file", "-format_whitelist", DEMUXERS, "-codec_whitelist", DECODERS],
    // Guess only mono and stereo layouts. Three microphones on three channels are not a 2.1 layout, whose third channel
    // would be dropped as bass.
    ...["-guess_layout_max", "2", "-threads", "1", "-i", `file:${path}`],
  ];
}

/** Memory limit of ffmpeg: 1 GiB. Decoding the test corpus takes under 0.3 GiB of address space. */
export const MEMORY_LIMIT_BYTES = 1 << 30;

/** ffmpeg's exit code at the memory limit: the low byte of the negated ENOMEM. Versions before 6 exit with 1. */
export const EXIT_OUT_OF_MEMORY = 256 - 12;

/** Returns the arguments that open a recording so that its filters see the time stamps of its container. */
export function timedInputArguments(inputPath: string): string[] {
  return ["-filter_threads", "1", "-copyts", ...inputArguments(inputPath)];
}

/** Returns the arguments of one output: the filtered track, without the file's metadata and chapters. */
export function outputArgumentsOf(
  trackIndex: number,
  filters: readonly string[],
  channels: 1 | 2,
  maxSeconds: number,
): string[] {
  return [
    ...["-map", `0:a:${trackIndex}`, "-map_metadata", "-1", "-map_chapters", "-1"],
    ...["-af", filters.join(",")],
    ...["-ac", String(channels), "-ar", String(PCM_SAMPLE_RATE_HZ), "-t", String(maxSeconds)],
  ];
}

/** Returns the filter for one of two channels. A mono span appears on both channels. */
export function channelFilter(channel: 0 | 1): string {
  return `aformat=channel_layouts=stereo,pan=mono|c0=c${channel}`;
}

/**
 * Returns the filter that mixes a track to mono, or no filter for layouts that ffmpeg mixes itself. Channels without a
 * known position are mixed with equal weight. Of an ambisonic layout, only the first channel is used: it records sound
 * from all directions.
 */
export function mixFilter({ channels, channelLayout }: ProbedRecording): string[] {
  if (channelLayout.startsWith("ambisonic")) return ["pan=mono|c0=c0"];
  if (channels === null || !/^\d+ channels/.test(channelLayout)) return [];
  const sum = Array.from({ length: channels }, (_, channel) => `c${channel}`).join("+");
  return [`pan=mono|c0<${sum}`];
}

/** Returns whether a recording's two channels are compared. Both are then decoded in addition to their mix. */
export function hasChannelPair({ channelLayout }: ProbedRecording): boolean {
  return /^(?:stereo|2 channels)$/.test(channelLayout);
}
