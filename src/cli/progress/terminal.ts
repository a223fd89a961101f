/** What a board draws on: standard error, or a test's own. */
export interface ScreenStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
  on?(event: "resize", listener: () => void): unknown;
  off?(event: "resize", listener: () => void): unknown;
}

/** `live`: lines are drawn over; `plain`: a terminal that can't, which gets a line a step; `none`: a pipe or a file. */
export type TerminalKind = "live" | "plain" | "none";

export function terminalKind(stream: ScreenStream, environment: NodeJS.ProcessEnv): TerminalKind {
  if (stream.isTTY !== true) return "none";
  return environment.TERM === "dumb" || !environment.TERM ? "plain" : "live";
}

/** Whether a terminal shows letters beyond ASCII: its locale says so. */
export function showsUnicode({ LC_ALL, LC_CTYPE, LANG }: NodeJS.ProcessEnv): boolean {
  return /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || "");
}
