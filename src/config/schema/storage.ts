import { bytes, group, path } from "./kinds.ts";

export const storage = group("Where everything is kept.", {
  data_dir: path({
    default: "data",
    description: "Directory that holds the database, the uploads and the work files. Made if it is not there.",
    reload: false,
    env: "TRANSCRIBE_DATA_DIR",
    flag: "--data-dir",
  }),
  runtime_dir: path({
    default: "",
    description:
      "Directory that the program in one file unpacks its native parts and default models into, about 410 MB. Empty takes the directory runtime in the data directory. It must not be mounted noexec.",
    reload: false,
  }),
  reserve_bytes: bytes({
    default: 1024 ** 3,
    minimum: 0,
    maximum: 2 ** 50,
    description:
      "Room that recordings which come in leave on the disk of the data directory: less than this is free, and creates are answered 503. It is what the work on those that are in hand lives on.",
    reload: true,
  }),
});
