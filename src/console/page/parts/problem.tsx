import { useEffect } from "preact/hooks";
import { strings } from "../strings.ts";
import { Button } from "./buttons.tsx";

/** Renders an error message, if there is one, and a retry button if a retry is possible. */
export function Problem({ problem, retry }: { problem: string | null; retry?: () => void }) {
  return (
    <div role="alert">
      {problem !== null && (
        <p class="alert">
          {problem}
          {retry !== undefined && (
            <>
              {" "}
              <Button text={strings.retry} onClick={retry} />
            </>
          )}
        </p>
      )}
    </div>
  );
}

/** Sets the window title to the name of the screen. */
export function useTitle(name: string): void {
  useEffect(() => {
    document.title = strings.titled(name);
  }, [name]);
}
