/** Sentence-ending marks of the scripts that the recognizer writes, followed by optional closing quotes and brackets. */
const atEnd = /(?<mark>[.?!…。？！｡।॥؟۔։።፧។៕။།]+)["'”’»›)\]」』）】]*$/u;

/**
 * Returns the sentence-ending marks at the end of a text, e.g. "." or "?!"; undefined if there are none. The full stop
 * of an abbreviation counts as well.
 */
export function sentenceMark(text: string): string | undefined {
  return atEnd.exec(text)?.groups?.mark;
}
