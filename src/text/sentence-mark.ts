/** Ends of sentences in the scripts that whisper writes, with closing quotes and brackets behind. */
const atEnd = /(?<mark>[.?!…。？！｡।॥؟۔։።፧។៕။།]+)["'”’»›)\]」』）】]*$/u;

/** The marks that a text ends with as a sentence does: ".", "?!"; undefined where it doesn't. An abbreviation's is one too. */
export function sentenceMark(text: string): string | undefined {
  return atEnd.exec(text)?.groups?.mark;
}
