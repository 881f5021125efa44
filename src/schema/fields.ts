import * as z from 'zod'
import { toAnswerText } from './formats.ts'
import { boolean, clearable, integer, optional } from './input-shapes.ts'

/**
 * A field of a resource. Everything about it but its description, which is the `///` of its column in schema.prisma,
 * or `description` of the shapes for a field without a column.
 */
export type Field<
  Creation extends z.ZodType = z.ZodType,
  Change extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType,
> = {
  /** The shape in the input of a creation. */
  creation: Creation
  /** The shape in the input of a change. */
  change: Change
  /** The shape in responses. */
  answer: Answer
  /** The value of a new row, and of a field that is unset; null where the field may be without a value. */
  standard: unknown
  /** An example for openapi.json. */
  example?: unknown
}
/** The fields of a resource by their names, in the order of the API. */
export type Fields = Record<string, Field>

export const createField = <Creation extends z.ZodType, Change extends z.ZodType, Answer extends z.ZodType>(
  field: Field<Creation, Change, Answer>,
) => field

/** A text that may be unset. */
export const textField = <Shape extends z.ZodType<string>>(shape: Shape, example?: string | null) =>
  createField({
    creation: optional(shape),
    change: clearable(shape),
    answer: toAnswerText(shape).nullable(),
    standard: null,
    example,
  })

/** A member of an enum that may be unset. */
export const optionalEnumField = <Value extends string>(
  { shape }: { shape: z.ZodType<Value> },
  example?: NoInfer<Value> | null,
) =>
  createField({
    creation: optional(shape),
    change: clearable(shape),
    answer: shape.nullable(),
    standard: null,
    example,
  })

/** A value that may be unset, other than a text. */
export const nullableField = <Shape extends z.ZodType, Answer extends z.ZodType>(
  shape: Shape,
  answer: Answer,
  example?: unknown,
) => {
  const input = shape.nullish()
  return createField({ creation: input, change: input, answer: answer.nullable(), standard: null, example })
}

/** A field that a creation must give, and that cannot be unset. */
export const requiredField = <Shape extends z.ZodType, Answer extends z.ZodType>(
  shape: Shape,
  answer: Answer,
  example?: unknown,
) => createField({ creation: shape, change: shape.optional(), answer, standard: undefined, example })

/** A field that always has a value: null is the standard one. */
export function standardField<Shape extends z.ZodType, Answer extends z.ZodType>(
  shape: Shape,
  answer: Answer,
  standard: z.output<Shape>,
  example?: unknown,
) {
  const input = shape
    .nullable()
    .transform((value): z.output<Shape> => value ?? standard)
    .optional()
  return createField({ creation: input, change: input, answer, standard, example })
}

export const flagField = (standard: boolean, example?: boolean) =>
  standardField(boolean, z.boolean(), standard, example)

export const integerField = (
  { min, max, standard }: { min: number; max: number; standard: number },
  example?: number,
) => standardField(integer(min, max), z.int(), standard, example)

/** A member of an enum (see schema/enums.ts). */
export const enumField = <const Value extends string>(
  { shape }: { shape: z.ZodType<Value> },
  standard: NoInfer<Value>,
  example?: Value,
) => standardField(shape, shape, standard, example)

const MAX_ENTRIES = 100

type ListOptions<Item extends z.ZodType> = {
  min?: number
  max?: number
  standard?: readonly z.output<Item>[]
  /** Responses state the format of an entry alone: what is stored is not validated again. */
  isPlain?: true
  example?: unknown
  /** Why a list is rejected, or null. */
  check?: (list: z.output<Item>[]) => string | null
}

function createUniqueList<Item extends z.ZodType>(
  item: Item,
  { min = 0, max = MAX_ENTRIES, check }: ListOptions<Item>,
) {
  const bounded = z.array(item, 'must be an array')
  const list = (min > 0 ? bounded.min(min, 'must not be empty') : bounded).max(
    max,
    `must have at most ${max} entries`,
  )
  const shape = check
    ? list.superRefine((entries, context) => {
        const issue = check(entries)
        if (issue) context.addIssue(issue)
      })
    : list
  return shape.transform((entries) => [...new Set(entries)])
}

const createListAnswer = <Item extends z.ZodType>(item: Item, { isPlain }: ListOptions<Item>) =>
  z.array(isPlain ? toAnswerText(item) : item) as z.ZodType<z.output<Item>[]>

/** A list without duplicates. */
export const listField = <Item extends z.ZodType>(item: Item, options: ListOptions<Item> = {}) =>
  standardField(
    createUniqueList(item, options),
    createListAnswer(item, options),
    [...(options.standard ?? [])],
    options.example,
  )

/** A list without duplicates that may be unset, which differs from an empty one: null stays null. */
export function unsettableListField<Item extends z.ZodType>(item: Item, options: ListOptions<Item> = {}) {
  const { standard = [], example } = options
  const input = createUniqueList(item, options).nullish()
  return createField({
    creation: input,
    change: input,
    answer: createListAnswer(item, options),
    standard,
    example,
  })
}

type ShapesOf<Table extends Fields, Kind extends 'creation' | 'change' | 'answer'> = {
  [Name in keyof Table]: Table[Name][Kind]
}
/** The shapes of all fields for one direction. */
export const mapShapes = <Table extends Fields, Kind extends 'creation' | 'change' | 'answer'>(
  fields: Table,
  kind: Kind,
) =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field[kind]])) as ShapesOf<
    Table,
    Kind
  >

/** The examples of the fields that have one. */
export const listExamples = (fields: Fields): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, { example }]) => (example === undefined ? [] : [[name, example]])),
  )

/** The values of a new row: those that are given, and the standard ones. */
export const addStandards = (fields: Fields, given: Record<string, unknown> = {}): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).map(([name, { standard }]) => [name, given[name] ?? standard]))
