import { Type } from "@sinclair/typebox";
import { statusSchema } from "../recordings/index.ts";

const statusNames = statusSchema.anyOf.map((choice) => choice.const).join("|");

function pageSize(options: { readonly maximum: number; readonly default: number }) {
  return Type.Integer({ minimum: 1, ...options, description: `a whole number from 1 to ${options.maximum}` });
}

const cursor = Type.Optional(Type.String({ maxLength: 200 }));
const id = Type.Optional(Type.String({ maxLength: 64 }));
const searched = Type.String({ minLength: 1, maxLength: 200, description: "1 to 200 characters" });

export const recordingsQuery = Type.Object({
  status: Type.Optional(Type.String({ pattern: `^(${statusNames})(,(${statusNames}))*$` })),
  account: id,
  workspace: id,
  q: Type.Optional(searched),
  cursor,
  limit: pageSize({ maximum: 100, default: 50 }),
});

export const uploadQuery = Type.Object({ account: Type.String({ maxLength: 64 }), workspace: id });

export const segmentsQuery = Type.Object({
  after: Type.String({
    pattern: "^(-1|0|[1-9]\\d{0,8})$",
    default: "-1",
    description: "the index of a segment, or -1",
  }),
  limit: pageSize({ maximum: 500, default: 200 }),
});

export const findQuery = Type.Object({
  q: searched,
  after: Type.Integer({ minimum: 0, default: 0 }),
  limit: pageSize({ maximum: 1000, default: 200 }),
});

const seconds = Type.Optional(
  Type.String({ pattern: "^\\d{1,7}(\\.\\d{1,6})?$", description: "a time in seconds from the beginning" }),
);

export const waveformQuery = Type.Object({
  most: pageSize({ maximum: 20_000, default: 4000 }),
  from: seconds,
  to: seconds,
});

export const accountsQuery = Type.Object({ cursor, limit: pageSize({ maximum: 100, default: 50 }) });
