import { WINDOW_SAMPLES } from "../blocks/index.ts";
import type { DecoderWork, GpuMemory, OperationName, Params, Result, WorkerStart } from "../operations/index.ts";
import { loadGgml, onnxLibraryOf } from "../runtimes/index.ts";
import { type PcmFile, SAMPLE_RATE, type Span, secondsOf, shifted, transcribedSpans } from "../timeline/index.ts";
import {
  cluster,
  type DiarizationModels,
  detectBlock,
  detectSpeech,
  embed,
  embedBlock,
  embedSentences,
  embedSpeech,
  knownSpeech,
  openDiarizationModels,
  readPcm,
  type SpeakerModelAddon,
  segment,
  speakersByVoice,
  speakerVoices,
  speechRegions,
  writeSentenceVoices,
} from "./diarization/index.ts";
import { GpuError } from "./gpu-error.ts";
import { ModelPool } from "./model-pool.ts";
import { placeWords } from "./place-words.ts";
import { planChunks, planFinalChunks } from "./plan-chunks.ts";
import { type EncoderOptions, familyOf, type Recognizer } from "./recognizer/index.ts";

/** The loaded models and the operations on them, shared by all recordings. */
export interface Workbench {
  readonly cpuVariant: string;
  /** `cpu`, or the backend of the recognizer's GPU in lower case. */
  readonly speechDevice: string;
  /** All available devices, for the log. */
  readonly devices: string[];
  /** Returns the current memory of the recognizer's GPU; null when the recognizer computes on the CPU. */
  gpuMemory(): GpuMemory | null;
  /** Returns the work of the decoder in slots so far; null when each operation decodes alone. */
  decoderWork(): DecoderWork | null;
  run(operation: OperationName, params: unknown, signal: AbortSignal): Promise<unknown>;
  /** Frees all other speech models; those in use are freed as soon as their jobs finish. */
  keepModels(paths: readonly string[]): void;
}

/** Loads native code and models into this process. @throws {Error} that says what is missing */
export async function openWorkbench(start: WorkerStart): Promise<Workbench> {
  return start.role === "speakers" ? await openSpeakerWorkbench(start) : await openSpeechWorkbench(start);
}

/** Opens the workbench of a speaker worker, which needs neither the recognizer nor a GPU. */
async function openSpeakerWorkbench(start: WorkerStart): Promise<Workbench> {
  const diarization = await openDiarizationModels(start);
  return {
    cpuVariant: "",
    devices: [],
    speechDevice: "cpu",
    gpuMemory: () => null,
    decoderWork: () => null,
    run: runnerOf(createHandlers(diarization, null, start.threads, () => undefined)),
    keepModels: () => {},
  };
}

async function openSpeechWorkbench(start: WorkerStart): Promise<Workbench> {
  const runtime = loadGgml({
    nativeDirectory: start.nativeDirectory,
    cpuLibrary: start.cpuLibrary,
    gpu: start.gpu === undefined ? [] : [start.gpu.library],
  });
  const { speechThreads } = start;
  const { gpus } = runtime;
  const usesGpu = gpus().length > 0;
  if (start.gpu !== undefined && !usesGpu) {
    throw new GpuError(new Error(runtime.unusable[0]?.reason ?? "the GPU is no longer available"));
  }
  const models = new ModelPool((path) => familyOf(path).open(runtime, path, true, start.slots), usesGpu);
  models.loadFirst(start.speechModel);
  // The addon is ours and built together with its types.
  const addon = runtime.addon as SpeakerModelAddon;
  const diarization = start.role === "speech" ? null : await openDiarizationModels({ ...start, addon });
  const library = onnxLibraryOf(start.onnxBinding);
  const encoderAt = (path: string | undefined) =>
    path === undefined ? undefined : { library, path, threads: speechThreads };
  return {
    cpuVariant: runtime.cpuLibrary,
    devices: runtime.devices().map((device) => `${device.backend}: ${device.description}`),
    speechDevice: gpus()[0]?.backend.toLowerCase() ?? "cpu",
    gpuMemory: () => {
      const [gpu] = gpus();
      return gpu === undefined ? null : { freeBytes: gpu.memoryFreeBytes, totalBytes: gpu.memoryTotalBytes };
    },
    decoderWork: () => ((start.slots ?? 1) > 1 ? models.decoderWork() : null),
    run: runnerOf(createHandlers(diarization, models, speechThreads, encoderAt)),
    keepModels: (paths) => models.keepOnly(paths),
  };
}

type Handlers = { [N in OperationName]: (params: Params<N>, signal: AbortSignal) => Promise<Result<N>> };

function runnerOf(handlers: Handlers): Workbench["run"] {
  return (operation, params, signal) => {
    const handle = handlers[operation] as (params: unknown, signal: AbortSignal) => Promise<unknown>;
    return handle(params, signal);
  };
}

/**
 * @param diarization null in a worker that runs only the recognizer
 * @param models null in a speaker worker
 * @param encoderAt returns the encoder options for the path of an operation's encoder
 */
function createHandlers(
  diarization: DiarizationModels | null,
  models: ModelPool | null,
  threads: number,
  encoderAt: (path: string | undefined) => EncoderOptions | undefined,
): Handlers {
  return {
    async detectBlock({ area, block }) {
      await detectBlock(loaded(diarization), area, block);
      return {};
    },
    async planChunks({ area, joinsTurns, blocks }) {
      const totalSeconds = area.pcm.sampleCount / SAMPLE_RATE;
      if (blocks === undefined) {
        return { chunks: planChunks(await speechRegions(area), totalSeconds, joinsTurns === true) };
      }
      const { regions, knownSeconds } = await knownSpeech(area, blocks);
      return { chunks: planFinalChunks(regions, knownSeconds, totalSeconds) };
    },
    async detectLanguage({ area, chunk, model, encoder }, signal) {
      // Reads the same samples as transcription, so that their window is encoded only once.
      const samples = await readSpans(area.pcm, transcribedSpans(chunk));
      const probabilities = await loaded(models).use(
        model,
        signal,
        (recognizer) => recognizer.detectLanguage(samples, threads),
        encoderAt(encoder),
      );
      return { probabilities };
    },
    async transcribe({ area, chunk, model, encoder, ...params }, signal) {
      const spans = transcribedSpans(chunk);
      const samples = await readSpans(area.pcm, spans);
      const { language, mayChangeLanguage = false, vocabulary = "" } = params;
      const recognized = await loaded(models).use(
        model,
        signal,
        (recognizer) => recognizer.transcribe(samples, { language, mayChangeLanguage, vocabulary, signal, threads }),
        encoderAt(encoder),
      );
      const words = recognized.flatMap((part) => part.words);
      const languages: Record<string, number> = {};
      for (const part of recognized) {
        const code = part.language ?? language;
        const seconds = part.words.reduce((sum, word) => sum + secondsOf(word), 0);
        languages[code] = (languages[code] ?? 0) + seconds;
      }
      return { words: placeWords(words, chunk, spans, samples), languages };
    },
    async translate({ area, chunk, model, encoder, language }, signal) {
      const spans = transcribedSpans(chunk);
      const samples = await readSpans(area.pcm, spans);
      const words = await loaded(models).use(
        model,
        signal,
        (recognizer) => recognizer.translate(samples, { language, signal, threads }),
        encoderAt(encoder),
      );
      return { words: placeWords(words, chunk, spans, samples) };
    },
    async embedBlock({ area, block }) {
      await embedBlock(loaded(diarization), area, block);
      return {};
    },
    async clusterSpeakers({ area, minSpeakers: min = 1, maxSpeakers: max = Number.POSITIVE_INFINITY }) {
      return { turns: await cluster(area, { min, max }) };
    },
    async embedSentences({ area, spans, block }) {
      const voices = await embedSentences(loaded(diarization), area, spans);
      await writeSentenceVoices(area, block, voices);
      return {};
    },
    async compareSentences({ area, sentences }) {
      return { owners: await speakersByVoice(area, sentences) };
    },
    async describeSpeakers({ area, turns }) {
      const voices = await speakerVoices(area, turns);
      return { voices: voices.map((voice) => ({ ...voice, embedding: [...voice.embedding] })) };
    },
    async transcribeLive({ area, span, model, encoder, ...params }, signal) {
      if (secondsOf(span) > MAX_LIVE_SECONDS) throw new RangeError(`a live pass covers at most ${MAX_LIVE_SECONDS} s`);
      const samples = await readSpans(area.pcm, [span]);
      const { language, vocabulary = "" } = params;
      const known = (params.known ?? []).map((word) => shifted(word, -span.startSeconds));
      const words = await loaded(models).use(
        model,
        signal,
        (recognizer) => recognizer.transcribeLive(samples, { language, vocabulary, known, signal, threads }),
        encoderAt(encoder),
        "live",
      );
      return { words: words.map((word) => shifted(word, span.startSeconds)) };
    },
    async detectSpeech({ area, endSample }) {
      return { probabilities: await detectSpeech(loaded(diarization), area.pcm, endSample) };
    },
    async embedSpeech({ area, spans }) {
      return { embedding: [...(await embedSpeech(loaded(diarization), area.pcm, spans))] };
    },
    async detectLiveLanguage({ area, span, model, encoder }, signal) {
      const samples = await readSpans(area.pcm, [span]);
      const detect = (recognizer: Recognizer) => recognizer.detectLanguage(samples, threads);
      return { probabilities: await loaded(models).use(model, signal, detect, encoderAt(encoder), "live") };
    },
    async selfTest({ model }, signal) {
      const silence = new Float32Array(SAMPLE_RATE);
      if (diarization !== null) {
        await segment(diarization, new Float32Array(WINDOW_SAMPLES));
        await embed(diarization, silence);
      }
      if (model === undefined) return {};
      // Computes the whole window, as for recordings: data that a short pass left in a recognizer changed their words.
      const pool = loaded(models);
      await pool.use(
        model,
        signal,
        (recognizer) => recognizer.transcribeOnce(silence, { threads, isShort: false }),
        pool.latestEncoderOf(model),
      );
      return {};
    },
  };
}

/** Maximum duration of a live pass: whisper's window. */
const MAX_LIVE_SECONDS = 30;

/** Returns the models. @throws {Error} if the worker's role has no such operations */
function loaded<T>(models: T | null): T {
  if (models === null) throw new Error("this worker does not run such operations");
  return models;
}

/** Reads the spans of a recording as one run of samples. */
async function readSpans(pcm: PcmFile, spans: readonly Span[]): Promise<Float32Array> {
  const parts: Float32Array[] = [];
  for (const { startSeconds, endSeconds } of spans) {
    const first = Math.floor(startSeconds * SAMPLE_RATE);
    parts.push(await readPcm(pcm, first, Math.ceil(endSeconds * SAMPLE_RATE) - first));
  }
  return new Float32Array(Bun.concatArrayBuffers(parts));
}
