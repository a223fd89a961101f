import { useEffect, useState } from "preact/hooks";
import { strings } from "../strings.ts";
import { droppedFiles } from "./dropped-files.ts";

/** Accepts files that are dropped anywhere on the page, and shows a hint while files are dragged over it. */
export function DropZone({ onFiles }: { onFiles: (files: readonly File[]) => void }) {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    // Every element fires an event when files enter or leave it. The page itself is left when the depth is 0.
    let depth = 0;
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") === true;
    const listeners = {
      dragenter: (event: DragEvent) => {
        if (!hasFiles(event)) return;
        depth++;
        setOver(true);
      },
      dragleave: (event: DragEvent) => {
        if (hasFiles(event) && --depth <= 0) setOver(false);
      },
      dragover: (event: DragEvent) => {
        if (hasFiles(event)) event.preventDefault();
      },
      drop: (event: DragEvent) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        depth = 0;
        setOver(false);
        if (event.dataTransfer !== null) void droppedFiles(event.dataTransfer).then(onFiles);
      },
    };
    const ended = new AbortController();
    for (const [name, listener] of Object.entries(listeners)) {
      addEventListener(name as keyof typeof listeners, listener, { signal: ended.signal });
    }
    return () => ended.abort();
  }, [onFiles]);
  return isOver ? (
    <div class="drop-zone" aria-hidden="true">
      <p>{strings.upload.drop}</p>
    </div>
  ) : null;
}
