/**
 * Makes a QuickTime file refer to the samples of another file: its data reference becomes an alias (type `alis`) with
 * an absolute path.
 *
 * The file must have its `moov` atom last, as ffmpeg writes it, so that growing it moves no sample.
 * Layout: QuickTime File Format, "Data Reference Atoms"; the alias record is that of classic Mac OS, as far as readers
 * use it.
 */
export function withExternalReference(file: Buffer, targetPath: string): Buffer {
  // dref: version and flags, the number of entries, then the one entry ffmpeg writes.
  return changeAtom(file, ["moov", "trak", "mdia", "minf", "dinf", "dref"], (body) =>
    Buffer.concat([body.subarray(0, 8), aliasEntry(targetPath), body.subarray(8 + body.readUInt32BE(8))]),
  );
}

/**
 * Replaces the body of the atom at a path, e.g. `["moov", "mvhd"]`, in the first track. The file must have its `moov`
 * atom last if the body gets longer or shorter.
 */
export function changeAtom(file: Buffer, path: readonly string[], change: (body: Buffer) => Buffer): Buffer {
  const starts: number[] = [];
  let from = 0;
  let end = file.length;
  for (const type of path) {
    const at = findAtom(file, from, end, type);
    starts.push(at);
    end = at + file.readUInt32BE(at);
    from = at + 8;
  }
  const body = change(Buffer.from(file.subarray(from, end)));
  const changed = Buffer.concat([file.subarray(0, from), body, file.subarray(end)]);
  for (const at of starts) changed.writeUInt32BE(file.readUInt32BE(at) + body.length - (end - from), at);
  return changed;
}

function findAtom(file: Buffer, from: number, end: number, type: string): number {
  for (let at = from; at + 8 <= end; ) {
    if (file.toString("latin1", at + 4, at + 8) === type) return at;
    at += Math.max(file.readUInt32BE(at), 8);
  }
  throw new Error(`no ${type} atom`);
}

function aliasEntry(targetPath: string): Buffer {
  const name = targetPath.slice(targetPath.lastIndexOf("/") + 1);
  const path = Buffer.from(targetPath);
  const record = Buffer.alloc(150);
  record.writeUInt8(4, 10);
  record.write("disk", 11, "latin1");
  record.writeUInt8(Math.min(name.length, 63), 50);
  record.write(name.slice(0, 63), 51, "latin1");
  record.writeInt16BE(1, 130);
  record.writeInt16BE(1, 132);
  const tagged = Buffer.alloc(4);
  tagged.writeInt16BE(2, 0);
  tagged.writeUInt16BE(path.length, 2);
  const padding = Buffer.alloc(path.length % 2);
  const terminator = Buffer.from([0xff, 0xff, 0, 0]);
  const body = Buffer.concat([Buffer.alloc(4), record, tagged, path, padding, terminator]);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + body.length, 0);
  head.write("alis", 4, "latin1");
  return Buffer.concat([head, body]);
}
