import { strings } from "../strings.ts";

/** What went wrong, if something did, and a way to try again where there is one. */
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
