import type { LiveFormat, LiveOptions } from "../../../live/index.ts";
import type { UsableModels } from "../../shared/usable-models.ts";
import { promptOf } from "../form.ts";
import { modelFor } from "../models.ts";
import { invalidParam, OpenAiError } from "../openai-error.ts";
import { languageFor } from "../waiting-transcripts.ts";
import type { FormatFields, SessionFields, TranscriptionFields, TurnFields } from "./session-fields.ts";

type Format = { readonly type: "audio/pcm"; readonly rate: number } | { readonly type: "audio/pcmu" | "audio/pcma" };

interface Transcription {
  readonly model: string;
  /** Names as sent; empty for language detection. */
  readonly languages: readonly string[];
  readonly prompt: string;
  readonly keywords: readonly string[];
}

interface TurnDetection {
  readonly type: "server_vad" | "semantic_vad";
  readonly threshold: number;
  readonly prefix_padding_ms: number;
  readonly silence_duration_ms: number;
}

interface Values {
  readonly format: Format;
  readonly transcription: Transcription;
  /** Undefined: the model decides. */
  readonly turnDetection: TurnDetection | null | undefined;
  readonly noiseReduction: object | null;
  readonly include: readonly string[];
}

const LOGPROBS = "item.input_audio_transcription.logprobs";
/** Sample rates of OpenAI's formats. */
const PCM_RATE = 24_000;
const TELEPHONY_RATE = 8000;

const serverVad: TurnDetection = {
  type: "server_vad",
  threshold: 0.5,
  prefix_padding_ms: 300,
  silence_duration_ms: 500,
};
/** Silence that ends a turn, by the `eagerness` of `semantic_vad`. There is no model of meaning. */
const eagerSilence = { low: 1000, medium: 500, high: 300, auto: 500 } as const;

/** Models whose clients end turns themselves: they leave `turn_detection` out, and commit. */
const isManual = (model: string) => /^gpt-(?:realtime-whisper|live-transcribe)(?:-|$)/.test(model);
/** Models whose transcripts name the language. */
const namesLanguages = (model: string) => /^gpt-(?:live-)?transcribe(?:-|$)/.test(model);

const defaults: Values = {
  format: { type: "audio/pcm", rate: PCM_RATE },
  transcription: { model: "whisper-1", languages: [], prompt: "", keywords: [] },
  turnDetection: undefined,
  noiseReduction: null,
  include: [],
};

const encodings = { "audio/pcm": "pcm16", "audio/pcmu": "mulaw", "audio/pcma": "alaw" } as const;
const formatsOfOlder = { pcm16: "audio/pcm", g711_ulaw: "audio/pcmu", g711_alaw: "audio/pcma" } as const;
const olderOfFormats = { "audio/pcm": "pcm16", "audio/pcmu": "g711_ulaw", "audio/pcma": "g711_alaw" } as const;

/** The settings of a transcription session, as OpenAI's clients know them. */
export class SessionSettings {
  readonly #values: Values;

  constructor(values: Values = defaults) {
    this.#values = values;
  }

  /** Whether transcripts have the log probabilities of their words. */
  get hasLogprobs(): boolean {
    return this.#values.include.includes(LOGPROBS);
  }

  /** Whether transcripts name the language. */
  get hasLanguages(): boolean {
    return namesLanguages(this.#values.transcription.model);
  }

  /** Whether segments with their speakers are reported. */
  get hasSpeakers(): boolean {
    return this.#values.transcription.model.includes("diarize");
  }

  get format(): LiveFormat {
    const { format } = this.#values;
    return { encoding: encodings[format.type], sampleRate: "rate" in format ? format.rate : TELEPHONY_RATE };
  }

  /**
   * Returns the settings after a change. Fields that are left out stay.
   * @throws {OpenAiError} 400 or 404 with the field that is not valid
   */
  with(fields: SessionFields, models: UsableModels): SessionSettings {
    if (fields.type === "realtime") {
      throw invalidParam("session.type", "This server only transcribes: the type of a session is transcription.");
    }
    const { input = {} } = fields.audio ?? {};
    const before = this.#values;
    const { transcription = fields.input_audio_transcription, turn_detection: turns = fields.turn_detection } = input;
    const { noise_reduction: noise = fields.input_audio_noise_reduction } = input;
    const settings = new SessionSettings({
      format: formatAfter(before.format, formatIn(fields)),
      transcription: transcriptionAfter(before.transcription, transcription),
      turnDetection: turns === undefined ? before.turnDetection : turnsAfter(before.turnDetection, turns),
      noiseReduction: noise === undefined ? before.noiseReduction : noise,
      include: fields.include === undefined ? before.include : (fields.include ?? []),
    });
    const place =
      fields.audio === undefined ? "session.input_audio_transcription" : "session.audio.input.transcription";
    settings.#requireModel(models, `${place}.model`);
    settings.#language(models, `${place}.language`);
    return settings;
  }

  /** Returns the options of the live session that come from its client. */
  toOptions(models: UsableModels): Pick<LiveOptions, "format" | "language" | "prompt" | "turns"> {
    const { prompt, keywords } = this.#values.transcription;
    const turns = this.#turns;
    return {
      format: this.format,
      language: this.#language(models, "language"),
      prompt: promptOf([prompt, ...keywords].join("\n")),
      turns:
        turns === null
          ? null
          : {
              threshold: turns.threshold,
              paddingSeconds: turns.prefix_padding_ms / 1000,
              silenceSeconds: turns.silence_duration_ms / 1000,
            },
    };
  }

  /** Returns the session as its events show it. @param id id of the live session */
  toSession(id: string): object {
    const { format, noiseReduction, include } = this.#values;
    const input = {
      format,
      transcription: this.#transcription,
      noise_reduction: noiseReduction,
      turn_detection: this.#turns,
    };
    return { ...identity(id), type: "transcription", audio: { input }, include };
  }

  /** Returns the session in the older form. */
  toOlderSession(id: string): object {
    const { format, noiseReduction, include } = this.#values;
    return {
      ...identity(id),
      modalities: ["audio", "text"],
      input_audio_format: olderOfFormats[format.type],
      input_audio_transcription: this.#transcription,
      input_audio_noise_reduction: noiseReduction,
      turn_detection: this.#turns,
      include,
    };
  }

  get #transcription(): object {
    const { model, languages, prompt, keywords } = this.#values.transcription;
    const [language] = languages;
    return {
      ...{ model, prompt },
      ...(languages.length === 1 ? { language } : {}),
      ...(languages.length > 1 ? { languages } : {}),
      ...(keywords.length > 0 ? { keywords } : {}),
    };
  }

  get #turns(): TurnDetection | null {
    const { turnDetection, transcription } = this.#values;
    if (turnDetection !== undefined) return turnDetection;
    return isManual(transcription.model) ? null : serverVad;
  }

  /** @throws {OpenAiError} 404 for a model that live sessions do not use */
  #requireModel(models: UsableModels, param: string): void {
    const current = models.current().id;
    const model = modelFor(models, this.#values.transcription.model, param);
    if (model.id === current) return;
    const message = `Live sessions use the model ${current}; whisper-1 means it, too.`;
    throw new OpenAiError("not_found", message, { param, code: "model_not_found" });
  }

  /** Returns the pinned language; null for detection. @throws {OpenAiError} 400 for an unknown one */
  #language(models: UsableModels, param: string): string | null {
    const { languages } = this.#values.transcription;
    const codes = new Set(languages.map((each) => languageFor(models.current(), each, param)));
    // Language detection can't be limited to several languages.
    return codes.size === 1 ? ([...codes][0] ?? null) : null;
  }
}

function identity(id: string) {
  return { id: `sess_${id.replaceAll("-", "")}`, object: "realtime.transcription_session" };
}

function formatIn({ audio, input_audio_format: older }: SessionFields): FormatFields | undefined {
  return audio?.input?.format ?? (older === undefined ? undefined : { type: formatsOfOlder[older] });
}

function formatAfter(before: Format, fields: FormatFields | undefined): Format {
  if (fields === undefined) return before;
  const { type = before.type, rate } = fields;
  return type === "audio/pcm" ? { type, rate: rate ?? PCM_RATE } : { type };
}

function transcriptionAfter(before: Transcription, fields: TranscriptionFields | null | undefined): Transcription {
  if (fields === undefined) return before;
  // `null` switches transcription off, so a session that only transcribes has its defaults again.
  if (fields === null) return defaults.transcription;
  const { model = before.model, language, languages, prompt, keywords } = fields;
  const sent = [...(languages ?? []), ...(language ? [language] : [])];
  return {
    model,
    languages: language === undefined && languages === undefined ? before.languages : sent,
    prompt: prompt === undefined ? before.prompt : (prompt ?? ""),
    keywords: keywords === undefined ? before.keywords : (keywords ?? []),
  };
}

function turnsAfter(before: TurnDetection | null | undefined, fields: TurnFields | null): TurnDetection | null {
  if (fields === null) return null;
  const { type = before?.type ?? "server_vad", eagerness, threshold, prefix_padding_ms, silence_duration_ms } = fields;
  const base = before?.type === type ? before : serverVad;
  const silence = type === "semantic_vad" ? eagerSilence[eagerness ?? "auto"] : silence_duration_ms;
  return {
    type,
    threshold: threshold ?? base.threshold,
    prefix_padding_ms: within(prefix_padding_ms ?? base.prefix_padding_ms, 0, 5000),
    silence_duration_ms: within(silence ?? base.silence_duration_ms, 100, 10_000),
  };
}

/** Returns the nearest value that live sessions take. Clients see it in the answer. */
function within(value: number, minimum: number, maximum: number): number {
  return Math.round(Math.min(maximum, Math.max(minimum, value)));
}
