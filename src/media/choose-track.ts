import { levelOf } from "./channels/levels.ts";
import { mixFilters } from "./ffmpeg-arguments.ts";
import { energyOf, type MeasuredFile, measureSound, SoundLevels } from "./measure-sound.ts";
import type { AudioTrack, ProbedRecording } from "./probe.ts";

/** Most tracks of a file that are compared: twice the 16 of broadcasters, who store each channel as a track. */
const MOST_TRACKS = 32;
/**
 * All tracks together are decoded for at most the length of the longest accepted recording. Those that are decoded slowly
 * count for more: a second for as much as this. Opus takes a 500th of its length.
 */
const SECONDS_PER_SECOND = 10;
/** One more than the highest level. */
const LOUDEST_LEVEL = 256;

/**
 * Chooses the track to transcribe: the first one that has sound, in the order of the probe. If none has, the loudest of
 * those that may have some, else of those that can be decoded. A track is decoded only until its sound is found, usually
 * for seconds. A file with one track is not decoded.
 * @throws the signal's reason after an abort
 */
export async function chooseTrack(file: MeasuredFile, { tracks }: ProbedRecording): Promise<AudioTrack> {
  if (tracks.length === 1) return tracks[0];
  let best: { readonly track: AudioTrack; readonly rank: number } | null = null;
  let maxSeconds = file.maxSeconds;
  for (const track of tracks.slice(0, MOST_TRACKS)) {
    if (maxSeconds <= 0) break;
    const since = performance.now();
    const levels = new SoundLevels();
    // Channels that cancel each other in a mix are sound, so all are measured together.
    const measured =
      track.channels === null
        ? { channels: 1, filters: [...mixFilters(track), "aformat=channel_layouts=mono"] }
        : { channels: track.channels, filters: [] };
    const onBlock = (samples: Int16Array) => {
      levels.add(levelOf(energyOf(samples)));
      return levels.hasSound;
    };
    await measureSound({ ...file, maxSeconds }, { trackIndex: track.index, ...measured, onBlock });
    if (levels.hasSound) return track;
    const elapsedSeconds = (performance.now() - since) / 1000;
    maxSeconds -= Math.max(levels.seconds, SECONDS_PER_SECOND * elapsedSeconds);
    const rank = levels.loudest + (levels.mayHaveSound ? LOUDEST_LEVEL : 0);
    if (levels.seconds > 0 && (best === null || rank > best.rank)) best = { track, rank };
  }
  return best?.track ?? tracks[0];
}
