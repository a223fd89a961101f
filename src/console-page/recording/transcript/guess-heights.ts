import type { Outline } from "../../../console/contract.ts";

/** What a row measures with the style sheet's sizes, in pixels at the usual size of text. */
const line = 29;
const gap = 8;
const nameLine = 44;
/** Mean width of a character, of those that fill a square and of the others. */
const wide = 18;
const narrow = 8;

/** Languages that are written in characters which fill a square. */
const inSquares = /^(zh|ja|ko|yue)\b/;

/** Whether a segment is the first of its speaker's turn: a name stands above it. */
export function beginsTurn({ speaker }: Outline, index: number): boolean {
  return index === 0 || speaker[index] !== speaker[index - 1];
}

/** About how high each segment will be in a column of a width, by the length of its text. */
export function guessHeights(outline: Outline, widthPixels: number, language: string | null): number[] {
  const character = inSquares.test(language ?? "") ? wide : narrow;
  const inLine = Math.max(8, Math.floor(widthPixels / character));
  return outline.characters.map((characters, index) => {
    const lines = Math.max(1, Math.ceil(characters / inLine));
    return lines * line + gap + (beginsTurn(outline, index) ? nameLine : 0);
  });
}
