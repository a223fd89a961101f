/** A text without what the links in it are opened with: `https://user:password@example.org/`. */
export function withoutPassword(text: string): string {
  return text.replace(/\/\/[^/@\s]*@/g, "//…@");
}
