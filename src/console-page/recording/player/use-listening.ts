import { useEffect, useState } from "preact/hooks";
import type { Listening } from "../../../console/contract.ts";
import { useAnswer } from "../../use-answer.ts";

/** Milliseconds between two requests for the progress of the playback copy. */
const lookEvery = 1_000;

/**
 * Returns the status of the playback copy. If it is missing, the request makes the server create it.
 * @param first status when the recording was loaded
 * @returns the status as `now`, and `look`, which requests it again
 */
export function useListening(recordingId: string, first: Listening) {
  const [isAsked, setAsked] = useState(first.state !== "ready");
  const { value, again } = useAnswer<Listening>(isAsked ? `recordings/${recordingId}/listening` : null);
  useEffect(() => {
    const timer = value?.state === "making" ? setTimeout(again, lookEvery) : undefined;
    return () => clearTimeout(timer);
  }, [value, again]);
  const look = () => {
    setAsked(true);
    again();
  };
  return { now: value ?? first, look };
}
