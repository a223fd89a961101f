import { useEffect, useState } from "preact/hooks";

let listener: (text: string) => void = () => {};

/** Makes a screen reader announce a text after its current speech. */
export function announce(text: string): void {
  listener(text);
}

/** Renders the live region for announcements. The page contains exactly one. */
export function Announcer() {
  const [text, setText] = useState("");
  useEffect(() => {
    // An empty text in between makes the screen reader repeat an identical text.
    listener = (next) => {
      setText("");
      setTimeout(() => setText(next), 50);
    };
    return () => {
      listener = () => {};
    };
  }, []);
  return (
    <p class="unseen" role="status">
      {text}
    </p>
  );
}
