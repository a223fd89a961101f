import { useEffect, useMemo, useState } from "preact/hooks";
import { SegmentPages } from "./segment-pages.ts";

/** Provides a recording's segments, and the error if they could not be loaded. */
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
