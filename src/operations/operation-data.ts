import {
  BLOCK_SECONDS,
  blockCount,
  blockWindows,
  WINDOW_SAMPLES,
  type WorkItem,
  windowSample,
} from "../blocks/index.ts";
import { embeddedPart, SAMPLE_RATE, type Span, transcribedSpans } from "../timeline/index.ts";
import type { LiveOperation, OperationName, Params } from "./protocol.ts";

/** The items of a work area that an operation reads and writes. */
interface OperationData {
  readonly inputs: readonly WorkItem[];
  readonly outputs: readonly WorkItem[];
}

/** Operations on a short span of a recording. They can run where only the items of `dataOf` are. */
export type SpanOperation = Extract<
  OperationName,
  "detectBlock" | "detectLanguage" | "transcribe" | "translate" | "embedBlock" | "embedSentences" | LiveOperation
>;

const dataOfOperations: { readonly [N in SpanOperation]: (params: Params<N>) => OperationData } = {
  detectBlock: (params) => ({
    inputs: [pcmOfBlock(params)],
    outputs: [{ kind: "activity", block: params.block }],
  }),
  detectLanguage: ({ chunk }) => ({ inputs: transcribedSpans(chunk).map((span) => pcmOfSpan(span)), outputs: [] }),
  transcribe: ({ chunk }) => ({ inputs: transcribedSpans(chunk).map((span) => pcmOfSpan(span)), outputs: [] }),
  translate: ({ chunk }) => ({ inputs: transcribedSpans(chunk).map((span) => pcmOfSpan(span)), outputs: [] }),
  embedBlock: (params) => ({
    inputs: [pcmOfBlock(params), { kind: "activity", block: params.block }],
    outputs: [{ kind: "embeddings", block: params.block }],
  }),
  embedSentences: ({ area, spans, block }) => ({
    inputs: [
      ...spans.map(pcmOfSentence),
      ...blocksAbout(spans, area.pcm.sampleCount).map((each) => ({ kind: "embeddings" as const, block: each })),
    ],
    outputs: [{ kind: "sentences", block }],
  }),
  transcribeLive: ({ span }) => ({ inputs: [pcmOfSpan(span)], outputs: [] }),
  detectSpeech: ({ endSample }) => ({ inputs: [pcmOfWindow(endSample)], outputs: [] }),
  embedSpeech: ({ spans }) => ({ inputs: spans.map(pcmOfSpan), outputs: [] }),
  detectLiveLanguage: ({ span }) => ({ inputs: [pcmOfSpan(span)], outputs: [] }),
};

/** Returns whether an operation can run where only its data is. */
export function isSpanOperation(operation: OperationName): operation is SpanOperation {
  return operation in dataOfOperations;
}

/** Returns what an operation reads and writes. All else that it needs is in its parameters and the models. */
export function dataOf<N extends SpanOperation>(operation: N, params: Params<N>): OperationData {
  return dataOfOperations[operation](params);
}

/** Returns the samples of the windows that start in a block; they reach up to 4 s beyond its end. */
function pcmOfBlock({ area, block }: Params<"detectBlock">): WorkItem {
  const { first, end } = blockWindows(area.pcm.sampleCount, block);
  const sampleCount = windowSample(end - 1 - first) + WINDOW_SAMPLES;
  return { kind: "pcm", firstSample: windowSample(first), sampleCount };
}

function pcmOfSpan({ startSeconds, endSeconds }: Span): WorkItem {
  const firstSample = Math.max(0, Math.floor(startSeconds * SAMPLE_RATE));
  const end = Math.ceil(endSeconds * SAMPLE_RATE);
  return { kind: "pcm", firstSample, sampleCount: end - firstSample };
}

/** Returns the samples of the window that ends at a sample; at the start of a session there are fewer. */
function pcmOfWindow(endSample: number): WorkItem {
  const firstSample = Math.max(0, endSample - WINDOW_SAMPLES);
  return { kind: "pcm", firstSample, sampleCount: endSample - firstSample };
}

function pcmOfSentence(sentence: Span): WorkItem {
  const { firstSample, sampleCount } = embeddedPart(sentence);
  return { kind: "pcm", firstSample, sampleCount };
}

/** Returns the blocks whose windows reach into one of the spans, each once. */
function blocksAbout(spans: readonly Span[], sampleCount: number): number[] {
  const blocks = new Set<number>();
  for (const { startSeconds, endSeconds } of spans) {
    const first = Math.max(0, Math.floor((startSeconds - WINDOW_SAMPLES / SAMPLE_RATE) / BLOCK_SECONDS));
    const last = Math.min(blockCount(sampleCount) - 1, Math.floor(endSeconds / BLOCK_SECONDS));
    for (let block = first; block <= last; block++) blocks.add(block);
  }
  return [...blocks];
}
