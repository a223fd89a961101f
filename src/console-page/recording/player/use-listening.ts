import { useEffect, useState } from "preact/hooks";
import type { Listening } from "../../../console/contract.ts";
import { useAnswer } from "../../use-answer.ts";

/** Milliseconds from one look at how far the copy to listen to is, to the next. */
const lookEvery = 1_000;

/**
 * How the copy to listen to stands; to ask has it made where it is not there.
 * @param first as it was when the recording was asked for
 * @returns with `look`, which asks anew
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
