const LONGEST_NAME = 255;

/**
 * Converts a client's file name to one that may be stored and shown: its last path component, in Unicode's composed
 * form. Control characters and marks that reorder text are removed. The result has at most 255 characters, and is
 * `recording` if nothing remains.
 */
export function cleanFileName(raw: string | undefined): string {
  const last = (raw ?? "").split(/[/\\]/).at(-1) ?? "";
  const clean = last
    // Browsers encode quotation marks and line breaks in file names like this (WHATWG HTML, "multipart form data").
    // Line breaks are dropped.
    .replace(/%22/g, '"')
    .replace(/%0[AaDd]/g, "")
    .normalize("NFC")
    .replace(/[\p{Cc}\p{Cs}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069\uFEFF]/gu, "")
    .trim();
  const short = Array.from(clean).slice(0, LONGEST_NAME).join("");
  return /^\.*$/.test(short) ? "recording" : short;
}
