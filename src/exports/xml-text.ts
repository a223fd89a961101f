const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** Escapes text for use between the tags of XML, and of WebVTT, which has the same entities. */
export function xmlText(text: string): string {
  return text.replace(/[&<>]/g, (character) => entities[character] ?? character);
}
