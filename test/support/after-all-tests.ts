// Loaded before any test, by bunfig.toml.
import { afterAll } from "bun:test";
import { removeTemporaryDirectories } from "./temporary-directory.ts";

afterAll(removeTemporaryDirectories);
