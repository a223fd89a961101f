import { group, text } from "./kinds.ts";

export const storage = group("Where everything is kept.", {
  data_dir: text({
    default: "data",
    description: "Directory that holds the database, the uploads and the work files. Made if it is not there.",
    reload: false,
    env: "TRANSCRIBE_DATA_DIR",
    flag: "--data-dir",
  }),
});
