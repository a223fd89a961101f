import { useEffect } from "preact/hooks";
import { strings } from "../strings.ts";

/** Puts the screen's name into the window's title. */
export function useTitle(name: string): void {
  useEffect(() => {
    document.title = strings.titled(name);
  }, [name]);
}
