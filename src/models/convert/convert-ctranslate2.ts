import { open } from "node:fs/promises";
import { ModelError } from "../model-error.ts";
import { openFiles, readIndex } from "./ctranslate2-file.ts";
import { melFilters, SPECTRUM_BINS } from "./mel-filters.ts";
import { planTensors, type TensorPlan } from "./plan-tensors.ts";
import { tensorData } from "./tensor-data.ts";
import { readVocabulary, type Vocabulary } from "./vocabulary.ts";
import { type WhisperShape, whisperShape } from "./whisper-shape.ts";

const GGML_MAGIC = 0x67676d6c;
/** ggml's numbers of element types; the file header uses the same number to declare float16 weights. */
const GGML_TYPE = { float32: 0, float16: 1 } as const;

interface ConversionInput {
  /** `model.bin`, or the parts into which it is split, in order. */
  readonly modelFiles: readonly string[];
  /** Directory that contains `vocabulary.json` or `vocabulary.txt`. */
  readonly vocabularyDirectory: string;
}

/**
 * Converts a Whisper model of CTranslate2 (the format of faster-whisper) to the ggml format that whisper.cpp reads.
 *
 * Accepts models of any size with weights in float32, float16, bfloat16, int8 or int16. The result always has float16
 * matrices, so a quantised model gains no precision. Needs some tens of megabytes of memory for a model of any size.
 * The output file must not exist. On an error, the caller removes the partially written file.
 * @throws {ModelError} when a file is damaged, or whisper.cpp does not support the model
 */
export async function convertCtranslate2(input: ConversionInput, outputPath: string): Promise<void> {
  const vocabulary = readVocabulary(input.vocabularyDirectory);
  const source = openFiles(input.modelFiles);
  try {
    const index = readIndex(source);
    const shape = whisperShape(index, source);
    if (vocabulary.size !== shape.vocabulary) {
      throw new ModelError(
        `the vocabulary has ${vocabulary.size} tokens, the model ${shape.vocabulary}: they do not belong together`,
      );
    }
    const tensors = planTensors(index, shape);
    const output = await open(outputPath, "wx");
    try {
      await output.appendFile(header(shape));
      await output.appendFile(filterSection(shape.mels));
      await output.appendFile(vocabularySection(vocabulary));
      for (const tensor of tensors) {
        await output.appendFile(tensorHeader(tensor));
        for (const chunk of tensorData(tensor, source)) await output.appendFile(chunk);
      }
      await output.sync();
    } finally {
      await output.close();
    }
  } finally {
    source.close();
  }
}

function header(shape: WhisperShape): Uint8Array {
  return int32s([
    GGML_MAGIC,
    shape.vocabulary,
    shape.audioContext,
    shape.audioWidth,
    shape.audioHeads,
    shape.audioLayers,
    shape.textContext,
    shape.textWidth,
    shape.textHeads,
    shape.textLayers,
    shape.mels,
    GGML_TYPE.float16,
  ]);
}

function filterSection(bands: number): Uint8Array {
  const filters = melFilters(bands);
  return Buffer.concat([int32s([bands, SPECTRUM_BINS]), new Uint8Array(filters.buffer)]);
}

function vocabularySection({ textTokens }: Vocabulary): Uint8Array {
  return Buffer.concat([
    int32s([textTokens.length]),
    ...textTokens.flatMap((token) => [int32s([token.length]), token]),
  ]);
}

function tensorHeader({ name, shape, type }: TensorPlan): Uint8Array {
  const nameBytes = Buffer.from(name);
  return Buffer.concat([int32s([shape.length, nameBytes.length, GGML_TYPE[type], ...shape.toReversed()]), nameBytes]);
}

function int32s(values: readonly number[]): Uint8Array {
  return new Uint8Array(Int32Array.from(values).buffer);
}
