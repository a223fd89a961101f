const emailShape = /^[^\s@\p{Cc}]{1,64}@[^\s@\p{Cc}]{1,190}$/u;

/** Returns whether a text has the form of an e-mail address. */
export function isEmailAddress(text: string): boolean {
  return emailShape.test(text);
}

/**
 * Returns a text with the letters A to Z in lower case. Other letters stay: `toLowerCase` makes the Kelvin sign a `k`, and
 * so an address of somebody else the same.
 */
export function foldAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
