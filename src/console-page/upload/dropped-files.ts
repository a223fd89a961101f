/**
 * The files that were dropped; of a folder those in it, and in its folders, that may be recordings. Call it while the event
 * lasts: the browser forgets what was dropped.
 */
export async function droppedFiles(transfer: DataTransfer): Promise<readonly File[]> {
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
    // They come in pieces, the last of which is empty.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return all;
    all.push(...some);
  }
}

/** By its name's end; what the browser does not know may be one. */
function mayBeRecording({ name, type }: File): boolean {
  return !name.startsWith(".") && /^($|audio\/|video\/)/.test(type);
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile;
}

function isFolder(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory;
}
