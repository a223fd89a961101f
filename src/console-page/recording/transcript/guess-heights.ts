import type { Outline } from "../../../console/contract.ts";

/** Heights of the parts of a row with the style sheet's sizes, in pixels at the default text size. */
const line = 29;
const gap = 8;
const nameLine = 44;
/** Mean width of a full-width character, and of any other character. */
const wide = 18;
const narrow = 8;

/** Languages that are written in full-width characters. */
const inSquares = /^(zh|ja|ko|yue)\b/;

/** Returns whether a segment is the first of its speaker's turn, so that a name is shown above it. */
export function beginsTurn({ speaker }: Outline, index: number): boolean {
  return index === 0 || speaker[index] !== speaker[index - 1];
}

/** Estimates the height of each segment in a column of a width, from the length of its text. */
export function guessHeights(outline: Outline, widthPixels: number, language: string | null): number[] {
  const character = inSquares.test(language ?? "") ? wide : narrow;
  const inLine = Math.max(8, Math.floor(widthPixels / character));
  return outline.characters.map((characters, index) => {
    const lines = Math.max(1, Math.ceil(characters / inLine));
    return lines * line + gap + (beginsTurn(outline, index) ? nameLine : 0);
  });
}
