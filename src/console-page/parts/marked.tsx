import type { Mark } from "../../console/contract.ts";

/** Renders a text with marked ranges. */
export function Marked({ text, marks }: { text: string; marks: readonly Mark[] }) {
  const pieces = marks.flatMap(([from, to], index) => [
    text.slice(marks[index - 1]?.[1] ?? 0, from),
    <mark key={from}>{text.slice(from, to)}</mark>,
  ]);
  return (
    <>
      {pieces}
      {text.slice(marks.at(-1)?.[1] ?? 0)}
    </>
  );
}
