/** Icon paths on a 16 × 16 grid, drawn as lines in the text colour. */
const drawings = {
  auto: "M8 2a6 6 0 1 0 0 12zM8 2a6 6 0 0 1 0 12",
  light: "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6M8 1v1M8 14v1M1 8h1M14 8h1M3 3l.7.7M12.3 12.3l.7.7M3 13l.7-.7M12.3 3.7l.7-.7",
  dark: "M13.5 9.5A6 6 0 1 1 6.5 2.5a5 5 0 0 0 7 7",
  close: "M4 4l8 8M12 4l-8 8",
  play: "M5 3l8 5-8 5z",
  pause: "M5.5 3v10M10.5 3v10",
  back: "M8 3a5 5 0 1 1-5 5M8 3L5.5 1M8 3L5.5 5.5",
  forward: "M8 3a5 5 0 1 0 5 5M8 3l2.5-2M8 3l2.5 2.5",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9M10.5 10.5L14 14",
  up: "M3.5 10L8 5.5 12.5 10",
  down: "M3.5 6L8 10.5 12.5 6",
  more: "M8 3.5v9M3.5 8h9",
  less: "M3.5 8h9",
  pen: "M3 13l.7-3L10.5 3.2a1.6 1.6 0 0 1 2.3 2.3L6 12.3z",
  undo: "M3 6.5h6.5a3.5 3.5 0 0 1 0 7H6M3 6.5L6 3.5M3 6.5l3 3",
  redo: "M13 6.5H6.5a3.5 3.5 0 0 0 0 7H10M13 6.5l-3-3M13 6.5l-3 3",
  save: "M8 2v8M4.5 7L8 10.5 11.5 7M3 13.5h10",
  mic: "M8 2a2 2 0 0 0-2 2v3.5a2 2 0 0 0 4 0V4a2 2 0 0 0-2-2M3.5 7.5a4.5 4.5 0 0 0 9 0M8 12v2.5",
  stop: "M4 4h8v8H4z",
  copy: "M6 6h7.5v7.5H6zM10 6V2.5H2.5V10H6",
  send: "M8 11V3M4.5 6L8 2.5 11.5 6M3 13.5h10",
} as const;

export type IconName = keyof typeof drawings;

/** Renders an icon next to a text or instead of one. Screen readers get only the text. */
export function Icon({ name }: { name: IconName }) {
  const isFilled = name === "play" || name === "stop";
  return (
    <svg class={isFilled ? "icon filled" : "icon"} viewBox="0 0 16 16" aria-hidden="true">
      <path d={drawings[name]} />
    </svg>
  );
}

/** Renders the product's logo: three lines of a transcript, with the second line highlighted. */
export function Logo() {
  return (
    <svg class="mark" viewBox="0 0 16 16" aria-hidden="true">
      <path d="M2 3.5h12M2 12.5h10" />
      <path class="now" d="M2 8h8" />
    </svg>
  );
}
