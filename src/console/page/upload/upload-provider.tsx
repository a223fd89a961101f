import { type ComponentChildren, createContext } from "preact";
import { useContext, useRef, useState } from "preact/hooks";
import { Icon } from "../parts/index.ts";
import { strings } from "../strings.ts";
import { DropZone } from "./drop-zone.tsx";
import { Tray } from "./tray.tsx";
import { UploadDialog } from "./upload-dialog.tsx";
import { useUploads } from "./use-uploads.ts";

const choosing = createContext<(files: readonly File[]) => void>(() => {});

/** Lets recordings be sent from anywhere in it: by dropping files on the page, or by UploadButton. */
export function UploadProvider({ children }: { children: ComponentChildren }) {
  const { uploads, send, drop } = useUploads();
  const [files, setFiles] = useState<readonly File[]>([]);
  return (
    <choosing.Provider value={setFiles}>
      {children}
      <DropZone onFiles={setFiles} />
      {files.length > 0 && <UploadDialog files={files} onSend={send} onClose={() => setFiles([])} />}
      <Tray uploads={uploads} onDrop={drop} />
    </choosing.Provider>
  );
}

/** Asks for files, for who would rather not drop them. */
export function UploadButton() {
  const choose = useContext(choosing);
  const field = useRef<HTMLInputElement>(null);
  const take = (event: { currentTarget: HTMLInputElement }) => {
    choose([...(event.currentTarget.files ?? [])]);
    // The same file may be chosen again.
    event.currentTarget.value = "";
  };
  return (
    <>
      <button type="button" class="main" onClick={() => field.current?.click()}>
        <Icon name="send" /> {strings.upload.choose}
      </button>
      <input ref={field} type="file" multiple hidden onChange={take} aria-label={strings.upload.choose} />
    </>
  );
}
