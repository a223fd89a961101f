/** Of these the style sheet has so many; who comes after them begins with the first again. */
export const speakerColours = 8;

/** Has an element, and what is in it, drawn in a speaker's colour. @param index place among the speakers */
export function speakerColour(index: number): Readonly<Record<"--speaker", string>> {
  return { "--speaker": `var(--speaker-${index % speakerColours})` };
}
