/** A model that can't be converted: damaged, hostile, or of a kind that has no ggml form. The message says which. */
export class ConversionError extends Error {
  override readonly name = "ConversionError";
}
