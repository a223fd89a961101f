import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { strings } from "../strings.ts";

const texts = strings.recording;
/** Minimum width for both columns; the style sheet has the same width. */
const wide = "(width >= 56rem)";

/** Shows its content next to the transcript, or collapsed above it if the window is too narrow. */
export function Beside({ children }: { children: ComponentChildren }) {
  const [isWide, setWide] = useState(() => matchMedia(wide).matches);
  useEffect(() => {
    const media = matchMedia(wide);
    const change = () => setWide(media.matches);
    media.addEventListener("change", change);
    return () => media.removeEventListener("change", change);
  }, []);
  if (isWide) {
    return (
      <aside class="beside" aria-label={texts.beside}>
        {children}
      </aside>
    );
  }
  return (
    <details>
      <summary>{texts.beside}</summary>
      <aside class="beside" aria-label={texts.beside}>
        {children}
      </aside>
    </details>
  );
}
