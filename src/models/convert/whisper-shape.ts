import type { ModelSizes } from "../../speech/index.ts";
import { ModelError } from "../model-error.ts";
import type { ByteSource, Ctranslate2Index, Variable } from "./ctranslate2-file.ts";

/** The sizes of a Whisper model, without the form of its weights. */
export type WhisperShape = Omit<ModelSizes, "weightForm">;

const SPECIFICATION = "WhisperSpec";
const NEWEST_REVISION = 3;
/** Maximum number of layers; large-v3 has 32. whisper.cpp names models by this number and accepts any number. */
const MAX_LAYERS = 256;
/** CTranslate2's number for the exact GELU, the activation that whisper.cpp computes. */
const ACTIVATION_GELU = 3;
/**
 * Vocabulary sizes: English-only, multilingual, and multilingual with Cantonese. whisper.cpp derives its special tokens
 * from these sizes.
 */
const VOCABULARIES = [51_864, 51_865, 51_866];

/**
 * Derives a model's sizes from its variables.
 * @throws {ModelError} when it is no Whisper model, or whisper.cpp would load it but compute wrong results
 */
export function whisperShape(index: Ctranslate2Index, source: ByteSource): WhisperShape {
  if (index.specification !== SPECIFICATION) {
    throw new ModelError(`this is a CTranslate2 model of kind ${JSON.stringify(index.specification)}, not Whisper`);
  }
  if (index.revision > NEWEST_REVISION) {
    throw new ModelError(
      `Whisper model files of revision ${index.revision} are not supported, only up to ${NEWEST_REVISION}`,
    );
  }
  refuseOtherArithmetic(index, source);
  const [vocabulary, textWidth] = shapeOf(index, "decoder/embeddings/weight", 2);
  const [textContext] = shapeOf(index, "decoder/position_encodings/encodings", 2);
  const [audioContext, audioWidth] = shapeOf(index, "encoder/position_encodings/encodings", 2);
  const [, mels] = shapeOf(index, "encoder/conv1/weight", 3);
  if (!VOCABULARIES.includes(vocabulary)) {
    throw new ModelError(
      `the model has ${vocabulary} tokens; whisper.cpp supports vocabularies of ${VOCABULARIES.join(", ")}`,
    );
  }
  if (mels !== 80 && mels !== 128) throw new ModelError(`the model has ${mels} mel bands, not 80 or 128`);
  return {
    vocabulary,
    audioContext,
    audioWidth,
    audioHeads: headsOf(index, source, "encoder", audioWidth),
    audioLayers: countLayers(index, "encoder"),
    textContext,
    textWidth,
    textHeads: headsOf(index, source, "decoder", textWidth),
    textLayers: countLayers(index, "decoder"),
    mels,
  };
}

/** Returns a variable. @throws {ModelError} when it is missing or does not have `rank` dimensions */
export function requireVariable(index: Ctranslate2Index, name: string, rank: number): Variable {
  const variable = index.variables.get(name);
  if (!variable) throw new ModelError(`the model has no ${name}`);
  if (variable.shape.length !== rank) {
    throw new ModelError(`${name} has the shape [${variable.shape}] where ${rank} dimensions are expected`);
  }
  return variable;
}

function shapeOf(index: Ctranslate2Index, name: string, rank: number): [number, number] {
  const [first = 0, second = 0] = requireVariable(index, name, rank).shape;
  return [first, second];
}

/** Rejects models that differ from ggml's fixed graph: exact GELU, and the token embedding as the output projection. */
function refuseOtherArithmetic(index: Ctranslate2Index, source: ByteSource): void {
  for (const part of ["encoder", "decoder"]) {
    const activation = index.variables.get(`${part}/activation`);
    if (activation && readScalar(activation, source) !== ACTIVATION_GELU) {
      throw new ModelError(`the ${part}'s activation is not GELU, the only one that whisper.cpp supports`);
    }
  }
  const projection = index.variables.get("decoder/projection/weight");
  if (projection && projection !== index.variables.get("decoder/embeddings/weight")) {
    throw new ModelError("the output projection is not the token embedding, which whisper.cpp does not support");
  }
  if (index.variables.has("decoder/projection/bias")) {
    throw new ModelError("the output projection has a bias, which whisper.cpp does not support");
  }
}

function headsOf(index: Ctranslate2Index, source: ByteSource, part: string, width: number): number {
  const name = `${part}/num_heads`;
  const heads = readScalar(requireVariable(index, name, 0), source);
  if (heads < 1 || width % heads !== 0) {
    throw new ModelError(`${name} is ${heads}, which does not divide the width ${width}`);
  }
  return heads;
}

function countLayers(index: Ctranslate2Index, part: string): number {
  let layers = 0;
  while (index.variables.has(`${part}/layer_${layers}/self_attention/linear_0/weight`)) layers++;
  if (layers === 0 || layers > MAX_LAYERS) throw new ModelError(`the model's ${part} has ${layers} layers`);
  return layers;
}

function readScalar(variable: Variable, source: ByteSource): number {
  const bytes = source.read(variable.offset, variable.sizeBytes);
  const view = new DataView(bytes.buffer);
  if (variable.type === "int8" && bytes.length === 1) return view.getInt8(0);
  if (variable.type === "int16" && bytes.length === 2) return view.getInt16(0, true);
  if (variable.type === "int32" && bytes.length === 4) return view.getInt32(0, true);
  throw new ModelError(`${variable.name} is not a whole number`);
}
