import { useEffect, useState } from "preact/hooks";

let listener: (text: string) => void = () => {};

/** Has a screen reader say something when it is done with what it is saying. */
export function announce(text: string): void {
  listener(text);
}

/** Where it is said from; one in the whole page. */
export function Announcer() {
  const [text, setText] = useState("");
  useEffect(() => {
    // Said again though it is the same: an empty moment lies between.
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
