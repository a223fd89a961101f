import { copyStringIntoBuffer, PDFObject } from "@cantoo/pdf-lib";

/**
 * An object that stores its serialized form, for types with tens of thousands of objects. A dictionary of separate
 * parts would take ten times as much memory.
 */
export class WrittenObject extends PDFObject {
  readonly #text: string;

  /** @param text serialized object, ASCII only */
  constructor(text: string) {
    super();
    this.#text = text;
  }

  override clone(): WrittenObject {
    return this;
  }

  override toString(): string {
    return this.#text;
  }

  override sizeInBytes(): number {
    return this.#text.length;
  }

  override copyBytesInto(buffer: Uint8Array, offset: number): number {
    return copyStringIntoBuffer(this.#text, buffer, offset);
  }
}
