/** A model can't be converted: it is damaged, hostile, or has no ggml counterpart. The message has the reason. */
export class ConversionError extends Error {
  override readonly name = "ConversionError";
}
