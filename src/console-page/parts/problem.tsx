import { useEffect } from "preact/hooks";
import { strings } from "../strings.ts";

/** Renders an error message, if there is one, and a retry button if a retry is possible. */
export function Told({ trouble, again }: { trouble: string | null; again?: () => void }) {
  return (
    <div role="alert">
      {trouble !== null && (
        <p class="told">
          {trouble}
          {again !== undefined && (
            <>
              {" "}
              <button type="button" class="quiet" onClick={again}>
                {strings.again}
              </button>
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
