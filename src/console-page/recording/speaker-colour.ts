/** Number of speaker colours in the style sheet; further speakers reuse them from the first. */
export const speakerColours = 8;

/**
 * Returns the style that draws an element and its content in a speaker's colour.
 * @param index index of the speaker
 */
export function speakerColour(index: number): Readonly<Record<"--speaker", string>> {
  return { "--speaker": `var(--speaker-${index % speakerColours})` };
}
