/** Formats a number for PDF: no exponent, no unnecessary digits. */
export function numeral(value: number): string {
  return String(Math.round(value * 10_000) / 10_000);
}

/** Encodes text as big-endian UTF-16 in hexadecimal digits. */
export function utf16Hex(text: string): string {
  let hex = "";
  for (let index = 0; index < text.length; index++) hex += text.charCodeAt(index).toString(16).padStart(4, "0");
  return hex;
}
