import { DECODERS, DEMUXERS } from "../../native/ffmpeg/formats.ts";
import { PCM_SAMPLE_RATE_HZ } from "./pcm.ts";

const FORMAT_WHITELIST = Object.values(DEMUXERS).join(",");
const CODEC_WHITELIST = Object.values(DECODERS).join(",");

/** The channels of the decoded track. */
export interface TrackChannels {
  /** Their number; null if ffmpeg's name for the layout contains none. */
  readonly channels: number | null;
  /** ffmpeg's name for the layout, e.g. `stereo`, `3 channels`. */
  readonly channelLayout: string;
}

/**
 * How far ffmpeg reads to find tracks and their formats: bytes, and time in microseconds. A transport stream tells the
 * format of a track only in its packets, and the first one may come minutes after the picture's. ffmpeg's own limits, 5 MB
 * and 5 s, then hide the track or its time. A file whose header has the formats is not read.
 */
const ANALYSIS = ["-probesize", String(64 << 20), "-analyzeduration", String(7_200_000_000)];

/**
 * Returns the arguments that open one stored file as input: only the protocol `file`, the listed demuxers and
 * decoders, and one thread. One thread is used because the memory limit counts what every thread reserves. The prefix `file:`
 * ensures that a name like `concat:…` or `-f` is read as a file name.
 */
export function inputArguments(path: string): string[] {
  return [
    ...["-protocol_whitelist", "file", "-format_whitelist", FORMAT_WHITELIST, "-codec_whitelist", CODEC_WHITELIST],
    // Guess only mono and stereo layouts. Three microphones on three channels are not a 2.1 layout, whose third channel
    // would be dropped as bass.
    ...["-guess_layout_max", "2", "-threads", "1", ...ANALYSIS, "-i", `file:${path}`],
  ];
}

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

/** Returns the filters for one of two channels. A mono span appears on both channels. */
export function channelFilters(track: TrackChannels, channel: 0 | 1): string[] {
  return [...fixedLayout(track), `pan=mono|c0=c${channel}`];
}

/** Named layouts in which the third channel, if any, is not the front centre. */
const WITHOUT_CENTRE = /^(?:2\.1|3\.0\(back\)|quad.*|6\.[01]\(front\)|cube|downmix|binaural)$/;

/** The gain of each channel in a mix, relative to the others; negative for a channel that is turned around. */
export type ChannelGains = readonly number[];

/** Returns the number of the front centre among the channels, from 0; -1 if there is none or no channel has a position. */
export function centreOf({ channelLayout }: TrackChannels): number {
  if (/^\d+ channels/.test(channelLayout)) return channelNames(channelLayout).indexOf("FC");
  return WITHOUT_CENTRE.test(channelLayout) ? -1 : 2;
}

/** Returns whether a track has three or more channels that are mixed. */
export function isMixOfMany({ channels, channelLayout }: TrackChannels): boolean {
  return (channels ?? 0) > 2 && !channelLayout.startsWith("ambisonic");
}

/**
 * Returns the filters that mix a track to mono; none for mono and stereo, which ffmpeg mixes itself. Of an ambisonic
 * layout, only the first channel is used: it records sound from all directions. ffmpeg's own mix of other layouts drops
 * the channel for bass and the channels that few layouts have.
 * @param gains the same for all channels if not given
 */
export function mixFilters(track: TrackChannels, gains?: ChannelGains): string[] {
  const { channels, channelLayout } = track;
  if (channelLayout.startsWith("ambisonic")) return ["pan=mono|c0=c0"];
  if (channels === null || /^(?:mono|stereo)$/.test(channelLayout)) return [];
  const parts = Array.from({ length: channels }, (_, channel) => `${gains?.[channel] ?? 1}*c${channel}`);
  // Gains relative to their sum, so that the mix never clips.
  return [...fixedLayout(track), `pan=mono|c0<${parts.join("+")}`];
}

/** Returns whether a recording's two channels are compared. Both are then decoded in addition to their mix. */
export function hasChannelPair({ channelLayout }: TrackChannels): boolean {
  return /^(?:stereo|2 channels\b.*)$/.test(channelLayout);
}

/** Returns the channels of a layout without a name of its own: `3 channels (FL+FR+LFE2)`. */
function channelNames(layout: string): string[] {
  return /^\d+ channels \(([A-Z0-9]+(?:\+[A-Z0-9]+)*)\)$/.exec(layout)?.[1]?.split("+") ?? [];
}

/**
 * Returns the filter that keeps the layout the same where it changes within a track, as between a film and its
 * commercials; none for channels without positions.
 */
export function fixedLayout({ channelLayout }: TrackChannels): string[] {
  const layout = /^\d+ channels/.test(channelLayout) ? channelNames(channelLayout).join("+") : channelLayout;
  return layout === "" ? [] : [`aformat=channel_layouts=${layout}`];
}
