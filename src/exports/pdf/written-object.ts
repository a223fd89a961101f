import { copyStringIntoBuffer, PDFObject } from "@cantoo/pdf-lib";

/** An object as the file has it, for those of which there are tens of thousands: a dictionary in parts is ten times as large. */
export class WrittenObject extends PDFObject {
  readonly #text: string;

  /** @param text ASCII */
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
