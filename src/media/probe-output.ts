/**
 * Reads the channel layouts of all audio tracks, as ffmpeg names them (`mono`, `stereo`, `5.1(side)`, `3 channels`),
 * from the header that its framecrc muxer writes for stream copies.
 *
 * The header holds no metadata of the file, unlike the description on standard error, where a tag's name may contain
 * line breaks and imitate a stream.
 */
export function parseTrackLayouts(framecrcHeader: string): string[] {
  const layouts = headerValues(framecrcHeader, "channel_layout_name");
  return [...headerValues(framecrcHeader, "sample_rate")]
    .filter(([, rate]) => Number.isSafeInteger(Number(rate)) && Number(rate) > 0)
    .map(([index]) => layouts.get(index) ?? "");
}

function headerValues(header: string, name: string): Map<number, string> {
  const values = new Map<number, string>();
  for (const match of header.matchAll(new RegExp(`^#${name} (\\d{1,4}): (.{1,100})$`, "gm"))) {
    values.set(Number(match[1]), match[2] ?? "");
  }
  return values;
}

const NAMED_LAYOUTS: Readonly<Record<string, number>> = {
  ...{ mono: 1, stereo: 2, downmix: 2, binaural: 2, quad: 4 },
  ...{ hexagonal: 6, octagonal: 8, cube: 8, hexadecagonal: 16 },
};

/** Returns the number of channels of an ffmpeg layout; null if its name does not contain the number (ambisonics). */
export function channelCount(layout: string): number | null {
  const unnamed = /^(\d{1,3}) channels\b/.exec(layout);
  if (unnamed !== null) return Number(unnamed[1]);
  if (/^\d{1,2}(\.\d{1,2}){1,2}(\(|$)/.test(layout)) {
    return (layout.split("(")[0] ?? "").split(".").reduce((sum, part) => sum + Number(part), 0);
  }
  return NAMED_LAYOUTS[layout.replace(/\(.*$/, "")] ?? null;
}

/**
 * The properties, other than the tracks, in ffmpeg's description on standard error. A hostile file can forge them, but
 * harms only itself.
 */
export interface InputDescription {
  /** Duration according to the container, null if it gives none. */
  readonly durationSeconds: number | null;
  /** True where ffmpeg only extrapolated the duration from the bit rate at the beginning. */
  readonly durationIsEstimate: boolean;
  /** Index, among the audio tracks, of the first track that the container marks as the default; 0 if none is marked. */
  readonly defaultTrack: number;
}

/** Reads duration and default track from ffmpeg's description of its input. */
export function parseInputDescription(messages: string): InputDescription {
  // ffmpeg's description of the output contains stream lines of the same form.
  const input = messages.split(/^(?:Stream mapping:|Output #0)/m, 1)[0] ?? "";
  const duration = /^ {2}Duration: (\d{2,6}):(\d\d):(\d\d(?:\.\d+)?),/m.exec(input);
  const audioLines = [...input.matchAll(/^ {2,6}Stream #0:\d+.{0,100}?: Audio: .*$/gm)].map((match) => match[0]);
  const marked = audioLines.findIndex((line) => / \(default\)(?: \([a-z ]+\))*$/.test(line));
  return {
    durationSeconds:
      duration === null ? null : Number(duration[1]) * 3600 + Number(duration[2]) * 60 + Number(duration[3]),
    durationIsEstimate: /Estimating duration from bitrate/.test(input),
    defaultTrack: Math.max(marked, 0),
  };
}
