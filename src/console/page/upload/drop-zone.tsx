import { useEffect, useState } from "preact/hooks";
import { strings } from "../strings.ts";

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
    const aborted = new AbortController();
    for (const [name, listener] of Object.entries(listeners)) {
      addEventListener(name as keyof typeof listeners, listener, { signal: aborted.signal });
    }
    return () => aborted.abort();
  }, [onFiles]);
  return isOver ? (
    <div class="drop-zone" aria-hidden="true">
      <p>{strings.upload.drop}</p>
    </div>
  ) : null;
}

/**
 * Returns the dropped files. From a folder and its subfolders, it returns only files that may be recordings. It must be
 * called during the drop event, because the browser then discards the data.
 */
async function droppedFiles(transfer: DataTransfer): Promise<readonly File[]> {
  const entries = [...transfer.items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  if (!entries.some(isFolder)) return [...transfer.files];
  const files = await Promise.all(
    entries.map(async (entry) => (isFolder(entry) ? (await filesIn(entry)).filter(mayBeRecording) : filesIn(entry))),
  );
  return files.flat();
}

async function filesIn(entry: FileSystemEntry): Promise<File[]> {
  if (isFile(entry)) return [await new Promise<File>((resolve, reject) => entry.file(resolve, reject))];
  if (!isFolder(entry)) return [];
  const entries = (await entriesOf(entry)).toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return (await Promise.all(entries.map(filesIn))).flat();
}

async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    // `readEntries` returns the entries in batches; an empty batch is the last.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return all;
    all.push(...some);
  }
}

/**
 * Returns whether a file may be a recording, by the media type that the browser derives from its name. A file of
 * unknown type may be one.
 */
function mayBeRecording({ name, type }: File): boolean {
  return !name.startsWith(".") && /^($|audio\/|video\/)/.test(type);
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile;
}

function isFolder(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory;
}
