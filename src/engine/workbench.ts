import {
  cluster,
  type DiarizationModels,
  detectBlock,
  embedBlock,
  openDiarizationModels,
  PcmReader,
  packChunks,
  speechRegions,
} from "./diarization/index.ts";
import type { OperationName, Params, PcmFile, Result, Span, Start } from "./protocol.ts";
import { loadWhisper, type WhisperModel, type WhisperState } from "./whisper/index.ts";

/** The loaded models and what can be done with them; one of each, shared by all recordings. */
export interface Workbench {
  readonly cpuVariant: string;
  readonly devices: string[];
  run(operation: OperationName, params: unknown, signal: AbortSignal): Promise<unknown>;
}

const sampleRate = 16_000;

/** Loads native code and models into this process. Throws an Error that says what is missing. */
export async function openWorkbench(start: Start): Promise<Workbench> {
  const whisper = loadWhisper({
    nativeDirectory: start.nativeDirectory,
    ...(start.cpuLibrary === "" ? {} : { cpuLibrary: start.cpuLibrary }),
  });
  const model = whisper.openModel(start.whisperModel, { useGpu: true, flashAttention: true, wordTimes: true });
  const diarization = await openDiarizationModels({
    segmentationPath: start.segmentationModel,
    embeddingPath: start.embeddingModel,
    threads: start.threads,
  });
  const handlers = createHandlers(diarization, new StatePool(model), start.threads);
  return {
    cpuVariant: whisper.cpuVariant(),
    devices: whisper.devices().map((device) => `${device.backend}: ${device.description}`),
    run: (operation, params, signal) => {
      const handle = handlers[operation] as (params: unknown, signal: AbortSignal) => Promise<unknown>;
      return handle(params, signal);
    },
  };
}

type Handlers = { [N in OperationName]: (params: Params<N>, signal: AbortSignal) => Promise<Result<N>> };

function createHandlers(diarization: DiarizationModels, states: StatePool, threads: number): Handlers {
  return {
    async detectBlock({ pcm, block, activityDirectory }) {
      await detectBlock(diarization, pcm, block, activityDirectory);
      return {};
    },
    async planChunks({ pcm, activityDirectory }) {
      const regions = await speechRegions(pcm, activityDirectory);
      return { chunks: packChunks(regions, pcm.sampleCount / sampleRate) };
    },
    async detectLanguage({ pcm, span }, signal) {
      const samples = await readSpan(pcm, span);
      return states.use(signal, async (state) => {
        const { language, probability } = await state.detectLanguage(samples, threads);
        return { language, probability };
      });
    },
    async transcribe({ pcm, span, language }, signal) {
      const samples = await readSpan(pcm, span);
      const { segments, aborted } = await states.use(signal, (state) =>
        state.transcribe(samples, { language, threads, beamSize: 5, withoutTimestamps: true, suppressNonSpeech: true }),
      );
      if (aborted) throw new Error("the transcription was aborted");
      const shift = span.startSeconds;
      return {
        utterances: segments.map(({ noSpeechProbability, averageLogProbability, words }) => ({
          noSpeechProbability,
          averageLogProbability,
          words: words.map((word) => ({
            text: word.text,
            startSeconds: word.startSeconds + shift,
            endSeconds: word.endSeconds + shift,
            probability: word.probability,
          })),
        })),
      };
    },
    async embedBlock({ pcm, block, activityDirectory, embeddingDirectory }) {
      await embedBlock(diarization, pcm, block, activityDirectory, embeddingDirectory);
      return {};
    },
    async clusterSpeakers({ pcm, activityDirectory, embeddingDirectory }) {
      return { turns: await cluster(pcm, activityDirectory, embeddingDirectory) };
    },
  };
}

async function readSpan(pcm: PcmFile, span: Span): Promise<Float32Array> {
  await using reader = await PcmReader.open(pcm);
  const first = Math.floor(span.startSeconds * sampleRate);
  return reader.read(first, Math.ceil(span.endSeconds * sampleRate) - first);
}

/** Whisper's working memories, about 200 MB each for base: made when needed, then used again. */
class StatePool {
  readonly #model: WhisperModel;
  readonly #idle: WhisperState[] = [];

  constructor(model: WhisperModel) {
    this.#model = model;
  }

  async use<T>(signal: AbortSignal, job: (state: WhisperState) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const state = this.#idle.pop() ?? this.#model.createState();
    const abort = () => state.abort();
    signal.addEventListener("abort", abort, { once: true });
    try {
      return await job(state);
    } finally {
      signal.removeEventListener("abort", abort);
      this.#idle.push(state);
    }
  }
}
