import type { AnyElysia } from "elysia";
import { tags } from "../../../recordings/index.ts";
import { invalidField } from "../../shared/errors.ts";
import { addRecordingRoute } from "../operations.ts";
import { addEditRoute, type EditServices } from "./edit-route.ts";
import { editingOperations } from "./operations.ts";

/** Adds the routes that read and replace the tags of a recording. */
export function addTagRoutes(api: AnyElysia, services: EditServices): void {
  const { library } = services;

  addRecordingRoute(api, library, editingOperations.getTags, ({ viewer, recording }) => ({
    tags: library.tagsOf(viewer, recording),
  }));

  addEditRoute(api, services, editingOperations.setTags, ({ viewer, recording, body }) => {
    library.setTags(viewer, recording.id, new Set(body.tags.map(checkedTag)));
    return { tags: library.tagsOf(viewer, recording) };
  });
}

/** @throws 422 under `tags` */
function checkedTag(text: string): string {
  try {
    return tags.parseTag(text);
  } catch (error) {
    throw error instanceof tags.TagError ? invalidField("tags", error.message) : error;
  }
}
