import { useEffect, useMemo, useState } from "preact/hooks";
import { SegmentPages } from "./segment-pages.ts";

/** A recording's segments, and the trouble of having them. */
export function useSegments(recordingId: string) {
  const [trouble, setTrouble] = useState<string | null>(null);
  const [, setArrivals] = useState(0);
  const segments = useMemo(
    () =>
      new SegmentPages(recordingId, (why) => {
        setTrouble(why);
        setArrivals((before) => before + 1);
      }),
    [recordingId],
  );
  useEffect(() => () => segments.end(), [segments]);
  const again = () => {
    segments.retry();
    setTrouble(null);
  };
  return { segments, trouble, again };
}
