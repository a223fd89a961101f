const LONGEST_NAME = 255;

/**
 * A client's file name as it may be stored and shown: its last path component, in Unicode's composed form, without
 * control characters and without marks that reorder text around them; at most 255 characters; `recording` where nothing is left.
 */
export function cleanFileName(raw: string | undefined): string {
  const last = (raw ?? "").split(/[/\\]/).at(-1) ?? "";
  const clean = last
    // Browsers write a quotation mark so in a file name, and line breaks, which are dropped (WHATWG HTML, "multipart form data").
    .replace(/%22/g, '"')
    .replace(/%0[AaDd]/g, "")
    .normalize("NFC")
    .replace(/[\p{Cc}\p{Cs}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069\uFEFF]/gu, "")
    .trim();
  const short = Array.from(clean).slice(0, LONGEST_NAME).join("");
  return /^\.*$/.test(short) ? "recording" : short;
}
