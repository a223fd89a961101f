import { exportExtension, exportFormats } from "../exports/index.ts";
import { safeFileName } from "../http/index.ts";
import type { Viewer } from "../library/index.ts";
import type { PlaybackState } from "../media/index.ts";
import { type Outline, type Recording, speakerLabel, type Transcript } from "../recordings/index.ts";
import type { PlaybackCopy, RecordingDetail, Speaker } from "./contract/recordings.ts";
import type { ConsoleServices } from "./services.ts";
import { problemOf, showRecording } from "./show-recording.ts";

/**
 * Minimum probability of a word that is not marked as doubtful. Below it, the recognizer considers the word more likely
 * wrong than right.
 */
const DOUBT_BELOW = 0.5;
/**
 * Maximum number of cached outlines. People look at a few recordings at a time, and the page requests each outline
 * several times.
 */
const MAX_OUTLINES = 20;
const MAX_PLACES = 1000;

/** Collects what the page shows about one recording. */
export class RecordingFacts {
  readonly #services: ConsoleServices;
  readonly #outlines = new Map<string, Promise<Outline>>();

  constructor(services: ConsoleServices) {
    this.#services = services;
  }

  /** Returns the outline of a transcript, which never changes. Outlines are cached. */
  outline(transcript: Transcript): Promise<Outline> {
    const { id } = transcript.recording;
    const outline = this.#outlines.get(id) ?? transcript.outline();
    // Moves the entry to the end: the first entry is the least recently used and is evicted first.
    this.#outlines.delete(id);
    this.#outlines.set(id, outline);
    outline.catch(() => this.#outlines.delete(id));
    const [oldest] = this.#outlines.keys();
    if (this.#outlines.size > MAX_OUTLINES && oldest !== undefined) this.#outlines.delete(oldest);
    return outline;
  }

  async show(viewer: Viewer, recording: Recording): Promise<RecordingDetail> {
    const { store, library, queue, playback } = this.#services;
    const isCompleted = recording.status === "completed";
    const transcript = library.transcriptOf(viewer, recording);
    const outline = isCompleted ? await this.outline(transcript) : null;
    const place = recording.status === "queued" ? queue.waiting(MAX_PLACES).indexOf(recording.id) + 1 : 0;
    return {
      ...showRecording(store, recording),
      place: place === 0 ? null : place,
      problem: problemOf(this.#services, recording),
      size_bytes: recording.sizeBytes,
      model: recording.speechModel,
      ...library.partsOf(viewer, recording),
      speakers: outline === null ? [] : speakersIn(outline, transcript.speakerNames()),
      segments: outline?.speakers.length ?? 0,
      doubt_below: DOUBT_BELOW,
      exports: isCompleted ? exportsOf(recording) : [],
      playback_copy: showPlayback(await playback.stateOf(recording.id)),
    };
  }
}

function exportsOf({ sourceName }: Recording): RecordingDetail["exports"] {
  return exportFormats.map((format) => ({ format, file_name: safeFileName(sourceName, exportExtension(format)) }));
}

export function showPlayback(copy: PlaybackState): PlaybackCopy {
  return {
    state: copy.state,
    percent: copy.state === "making" ? copy.percent : null,
    message: "message" in copy ? copy.message : null,
  };
}

function speakersIn(outline: Outline, names: ReadonlyMap<number, string>): Speaker[] {
  const milliseconds: number[] = [];
  const segments: number[] = [];
  for (const [index, speaker] of outline.speakers.entries()) {
    const length = (outline.endMilliseconds[index] ?? 0) - (outline.startMilliseconds[index] ?? 0);
    milliseconds[speaker] = (milliseconds[speaker] ?? 0) + length;
    segments[speaker] = (segments[speaker] ?? 0) + 1;
  }
  const all = milliseconds.reduce((sum, each) => sum + each, 0);
  return milliseconds.map((each, speaker) => ({
    speaker: speakerLabel(speaker),
    name: names.get(speaker) ?? null,
    seconds: each / 1000,
    share: all === 0 ? 0 : each / all,
    segments: segments[speaker] ?? 0,
  }));
}
