import { open } from "node:fs/promises";
import { openFiles } from "./byte-source.ts";
import { ConversionError } from "./conversion-error.ts";
import { readIndex } from "./ctranslate2-index.ts";
import { melFilters, SPECTRUM_BINS } from "./mel-filters.ts";
import { tensorData } from "./tensor-data.ts";
import { planTensors, type TensorPlan } from "./tensor-list.ts";
import { readVocabulary, type Vocabulary } from "./vocabulary.ts";
import { type WhisperShape, whisperShape } from "./whisper-shape.ts";
import { writeAll } from "./write-all.ts";

const GGML_MAGIC = 0x67676d6c;
/** ggml's numbers for element types; the same number in the header says that the weights are float16. */
const GGML_TYPE = { float32: 0, float16: 1 } as const;

export interface ConversionInput {
  /** `model.bin`, or the parts that it is split into, in order. */
  readonly modelFiles: readonly string[];
  /** The directory with `vocabulary.json` or `vocabulary.txt`. */
  readonly vocabularyDirectory: string;
}

/**
 * Converts a Whisper model of CTranslate2 (faster-whisper's form) to the ggml form that whisper.cpp reads.
 *
 * Takes any size and weights in float32, float16, bfloat16, int8 or int16; the result always has float16 matrices, so
 * a quantised model gains nothing in precision. Memory stays at some tens of megabytes whatever the model's size.
 * The output file must not exist; what was written is left for the caller to remove when this throws.
 * Throws `ConversionError` for a damaged file or a model that whisper.cpp does not know.
 */
export async function convertCtranslate2(input: ConversionInput, outputPath: string): Promise<void> {
  const vocabulary = readVocabulary(input.vocabularyDirectory);
  const source = openFiles(input.modelFiles);
  try {
    const index = readIndex(source);
    const shape = whisperShape(index, source);
    if (vocabulary.size !== shape.vocabulary) {
      throw new ConversionError(
        `the vocabulary has ${vocabulary.size} tokens, the model ${shape.vocabulary}: they don't belong together`,
      );
    }
    const tensors = planTensors(index, shape);
    const output = await open(outputPath, "wx");
    try {
      await writeAll(output, header(shape));
      await writeAll(output, filterSection(shape.melBands));
      await writeAll(output, vocabularySection(vocabulary));
      for (const tensor of tensors) {
        await writeAll(output, tensorHeader(tensor));
        for (const piece of tensorData(tensor, source)) await writeAll(output, piece);
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
    shape.melBands,
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
  const bytes = new Uint8Array(values.length * 4);
  const view = new DataView(bytes.buffer);
  values.forEach((value, index) => {
    view.setInt32(index * 4, value, true);
  });
  return bytes;
}
