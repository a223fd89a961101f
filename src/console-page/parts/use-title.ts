import { useEffect } from "preact/hooks";
import { strings } from "../strings.ts";

/** Sets the window title to the name of the screen. */
export function useTitle(name: string): void {
  useEffect(() => {
    document.title = strings.titled(name);
  }, [name]);
}
