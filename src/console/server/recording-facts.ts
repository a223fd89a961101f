import { getAccount } from "../../accounts/index.ts";
import { timestamp } from "../../api-contract/index.ts";
import type { Recording, Store } from "../../database/index.ts";
import { exportFileName, exportFormats } from "../../exports/index.ts";
import { retentionOf, serverRetention, type Viewer } from "../../library/index.ts";
import { wasLive } from "../../live/index.ts";
import type { PlaybackState } from "../../media/index.ts";
import type { Outline } from "../../segments/index.ts";
import { speakerLabel, type Transcript } from "../../transcripts/index.ts";
import type { SpeakerState, Voices } from "../../voices/index.ts";
import type { PlaybackCopy, RecordingDetail, Speaker, SpeakerVoice } from "../contract/index.ts";
import type { ConsoleServices } from "./services.ts";
import { problemOf, showAuthor, showRecording } from "./show-recording.ts";

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
const DAY = 86_400_000;

/** Collects what the page shows about one recording. */
export class RecordingFacts {
  readonly #services: ConsoleServices;
  readonly #voices: Voices;
  readonly #outlines = new Map<string, Promise<Outline>>();

  constructor(services: ConsoleServices, voices: Voices) {
    this.#services = services;
    this.#voices = voices;
  }

  /** Returns the outline of a transcript's latest revision. Outlines are cached. */
  outline(transcript: Transcript): Promise<Outline> {
    const key = `${transcript.recording.id} ${transcript.revision}`;
    const outline = this.#outlines.get(key) ?? transcript.outline();
    // Moves the entry to the end: the first entry is the least recently used and is evicted first.
    this.#outlines.delete(key);
    this.#outlines.set(key, outline);
    outline.catch(() => this.#outlines.delete(key));
    const [oldest] = this.#outlines.keys();
    if (this.#outlines.size > MAX_OUTLINES && oldest !== undefined) this.#outlines.delete(oldest);
    return outline;
  }

  /** Returns a recording as its screen shows it. The machine's problems and names are for operators only. */
  async show(viewer: Viewer, recording: Recording): Promise<RecordingDetail> {
    const { store, library, queue, playback } = this.#services;
    const isOperator = viewer.kind === "operator";
    const parts = library.partsOf(viewer, recording);
    const isCompleted = recording.status === "completed";
    const transcript = library.transcriptOf(viewer, recording);
    const playbackCopy = showPlayback(await playback.stateOf(recording.id), viewer);
    let outline: Outline | null;
    let revision: number;
    // Somebody may correct the transcript while its outline is read. All facts are those of one revision.
    do {
      ({ revision } = transcript);
      outline = isCompleted ? await this.outline(transcript) : null;
    } while (transcript.revision !== revision);
    const place = ({ status, id }: Recording) => {
      const ahead = status === "queued" ? queue.waiting(MAX_PLACES).indexOf(id) : -1;
      return ahead < 0 ? null : ahead + 1;
    };
    const rerun = library.rerunOf(viewer, recording);
    return {
      ...showRecording(store, recording, viewer),
      place: place(recording),
      problem: isOperator ? problemOf(this.#services, recording) : null,
      size_bytes: recording.sizeBytes,
      audio_track: showAudioTrack(recording),
      model: recording.speechModel,
      models: parts.models,
      machines: isOperator ? parts.machines : [],
      speakers: outline === null ? [] : this.#speakersIn(viewer, transcript, outline),
      segments: outline?.speakers.length ?? 0,
      doubt_below: DOUBT_BELOW,
      exports: isCompleted ? exportsOf(recording) : [],
      playback_copy: playbackCopy,
      kept_until: this.#keptUntil(recording),
      processed_again: rerun === null ? null : { ...this.#showRerun(viewer, rerun), place: place(rerun) },
      has_translation: isCompleted && recording.isTranslated,
      was_live: wasLive(store, recording.id),
      corrected: showCorrected(store, transcript, viewer),
    };
  }

  #keptUntil({ accountId, endedAt, heldAt }: Recording): RecordingDetail["kept_until"] {
    const { store, settings, now } = this.#services;
    const account = getAccount(store, accountId);
    if (account === null || endedAt === null || heldAt !== null) return { audio: null, recording: null };
    const { audioDays, completedDays } = retentionOf(account, serverRetention(settings().retention));
    const audio = endedAt + audioDays * DAY;
    return {
      // The time is over for audio that was removed, or that the next cleanup removes.
      audio: audio > now() ? timestamp(audio) : null,
      recording: completedDays === 0 ? null : timestamp(endedAt + completedDays * DAY),
    };
  }

  #showRerun(viewer: Viewer, rerun: Recording) {
    const { status, progress, failure } = showRecording(this.#services.store, rerun, viewer);
    const problem = viewer.kind === "operator" ? problemOf(this.#services, rerun) : null;
    return { status, progress, failure, problem, model: rerun.speechModel };
  }

  /** Readers learn nothing of voices, which only those who may change the recording confirm and remember. */
  #speakersIn(viewer: Viewer, transcript: Transcript, outline: Outline): Speaker[] {
    const isReader = viewer.kind === "person" && viewer.role === "reader";
    const states = isReader ? null : this.#voices.statesOf(transcript);
    const voices = transcript.speakerNumbers().map((number) => showVoice(states?.get(number)));
    return speakersIn(outline, transcript, voices);
  }
}

function showVoice(state: SpeakerState | undefined): SpeakerVoice | null {
  if (state === undefined) return null;
  return "id" in state ? { state: state.kind, id: state.id, name: state.name } : { state: state.kind };
}

function showAudioTrack({ audioTrack, audioTracks }: Recording): RecordingDetail["audio_track"] {
  const isOnly = audioTrack === null || audioTracks === null || audioTracks === 1;
  return isOnly ? null : { number: audioTrack, of: audioTracks };
}

function exportsOf({ sourceName, isTranslated }: Recording): RecordingDetail["exports"] {
  return exportFormats.map((format) => ({
    format,
    file_name: exportFileName(sourceName, format),
    translation_file_name: isTranslated ? exportFileName(sourceName, format, "en") : null,
  }));
}

export function showPlayback(copy: PlaybackState, viewer: Viewer): PlaybackCopy {
  return {
    state: copy.state,
    percent: copy.state === "making" ? copy.percent : null,
    message: playbackMessage(copy, viewer),
  };
}

/** Returns why a recording can't be played. The cause of a failure, which may name a path, is for operators only. */
export function playbackMessage(copy: PlaybackState, viewer: Viewer): string | null {
  if (!("message" in copy)) return null;
  if (copy.state === "none" || viewer.kind === "operator") return copy.message;
  return "The recording can't be prepared for playback. Ask the operator of the server.";
}

function showCorrected(store: Store, transcript: Transcript, viewer: Viewer): RecordingDetail["corrected"] {
  const [latest] = transcript.revisions(null, 1);
  if (latest === undefined) return null;
  return { revision: latest.number, author: showAuthor(store, latest.author, viewer), at: timestamp(latest.at) };
}

function speakersIn(outline: Outline, transcript: Transcript, voices: readonly (SpeakerVoice | null)[]): Speaker[] {
  const names = transcript.speakerNames();
  const numbers = transcript.speakerNumbers();
  const milliseconds: number[] = [];
  const segments: number[] = [];
  for (const [index, speaker] of outline.speakers.entries()) {
    const length = (outline.endMilliseconds[index] ?? 0) - (outline.startMilliseconds[index] ?? 0);
    milliseconds[speaker] = (milliseconds[speaker] ?? 0) + length;
    segments[speaker] = (segments[speaker] ?? 0) + 1;
  }
  const all = milliseconds.reduce((sum, each) => sum + each, 0);
  return milliseconds.map((each, speaker) => ({
    number: numbers[speaker] ?? speaker,
    speaker: speakerLabel(speaker),
    name: names.get(speaker) ?? null,
    voice: voices[speaker] ?? null,
    seconds: each / 1000,
    share: all === 0 ? 0 : each / all,
    segments: segments[speaker] ?? 0,
  }));
}
