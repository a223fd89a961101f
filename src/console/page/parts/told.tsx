import type { Refusal } from "../server.ts";
import { strings } from "../strings.ts";

/** Why something is not there, and a way to try again; nothing without a refusal. */
export function Told({ refusal, again }: { refusal: Refusal | null; again: () => void }) {
  return (
    <div role="alert">
      {refusal !== null && (
        <p class="told">
          {refusal.message}{" "}
          <button type="button" class="quiet" onClick={again}>
            {strings.again}
          </button>
        </p>
      )}
    </div>
  );
}
