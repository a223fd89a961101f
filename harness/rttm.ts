/** A speech span of a named speaker. */
export interface NamedTurn {
  startSeconds: number;
  endSeconds: number;
  speaker: string;
}

/** Parses the SPEAKER lines of an RTTM text (NIST RT-09 evaluation plan, appendix A). Ignores other lines. */
export function parseRttm(text: string): NamedTurn[] {
  return text.split("\n").flatMap((line) => {
    const fields = line.trim().split(/\s+/);
    if (fields[0] !== "SPEAKER") return [];
    const startSeconds = Number(fields[3]);
    const speaker = fields[7] ?? "";
    const endSeconds = startSeconds + Number(fields[4]);
    if (!(endSeconds >= startSeconds) || speaker === "") throw new Error(`not an RTTM speaker line: ${line}`);
    return [{ startSeconds, endSeconds, speaker }];
  });
}
