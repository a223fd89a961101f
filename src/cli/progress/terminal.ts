/** The stream that a board draws on: standard error, or a test's stream. */
export interface ScreenStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
  on?(event: "resize", listener: () => void): unknown;
  off?(event: "resize", listener: () => void): unknown;
}

/** `live`: lines can be redrawn; `plain`: a terminal without redrawing, one line per step; `none`: a pipe or file. */
export type TerminalKind = "live" | "plain" | "none";

export function terminalKind(stream: ScreenStream, environment: NodeJS.ProcessEnv): TerminalKind {
  if (stream.isTTY !== true) return "none";
  return environment.TERM === "dumb" || !environment.TERM ? "plain" : "live";
}

/** Returns whether the locale is UTF-8, so that a terminal can show characters beyond ASCII. */
export function showsUnicode({ LC_ALL, LC_CTYPE, LANG }: NodeJS.ProcessEnv): boolean {
  return /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || "");
}
