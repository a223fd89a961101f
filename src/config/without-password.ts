/** Returns a text without the credentials in its links: `https://user:password@example.org/`. */
export function withoutPassword(text: string): string {
  return text.replace(/\/\/[^/@\s]*@/g, "//…@");
}
