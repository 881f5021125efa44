import * as z from 'zod'
import type { Scope } from '../core/scopes.ts'
import { defineEnum } from './enums.ts'
import { direction, timeRange } from './input-shapes.ts'

/** A member of the filter of a list. */
export type FilterMember<Shape extends z.ZodType = z.ZodType> = {
  shape: Shape
  description: string
  example?: unknown
  /** The scope that reading the field requires, since filtering by a field reveals it. */
  scope?: Scope
  /**
   * SQL of the column that it is compared with, by default the one of its name; a function where the value decides. Null
   * where the list has a condition of its own.
   */
  column?: string | null | ((value: never) => string)
  /** Converts the value to that of the column. */
  toKey?: (value: never) => unknown
}
type Members = Record<string, FilterMember>

type Shapes<Declared extends Members> = {
  [Name in keyof Declared]: z.ZodOptional<z.ZodNullable<Declared[Name]['shape']>>
}

/** A valid filter with the members that restrict the list. */
export type Given<Declared> = Declared extends Members
  ? { [Name in keyof Declared]?: NonNullable<z.output<Declared[Name]['shape']>> }
  : never

/** The filter of a list: all of its members must match. Null counts as omitted. */
export type Filter<Declared extends Members = Members> = {
  members: Declared
  names: (keyof Declared & string)[]
  /** Of the input: the parameters of REST and the input type of GraphQL. */
  shape: z.ZodObject<Shapes<Declared>>
  /** Removes members that are null, and ranges without bounds. */
  pickGiven(parsed: Record<string, unknown>): Given<Declared>
}

const isGiven = (member: FilterMember | undefined, value: unknown): boolean => {
  if (value === null || value === undefined) return false
  return (
    member?.shape !== timeRange || Object.values(value).some((bound) => bound !== null && bound !== undefined)
  )
}

/** Declares the filter of a list. The description says which members combine, where not all of them do. */
export function defineFilter<const Declared extends Members>(
  members: Declared,
  description?: string,
): Filter<Declared> {
  const shapes = Object.entries(members).map(([name, { shape, description: text, example, scope }]) => [
    name,
    shape.nullish().meta({
      description: scope ? `${text} Requires scope ${scope}.` : text,
      ...(example !== undefined && { example }),
    }),
  ])
  const shape = z.strictObject(Object.fromEntries(shapes) as Shapes<Declared>)
  return {
    members,
    names: Object.keys(members) as (keyof Declared & string)[],
    shape: description === undefined ? shape : shape.meta({ description }),
    pickGiven: (parsed) =>
      Object.fromEntries(
        Object.entries(parsed).filter(([name, value]) => isGiven(members[name], value)),
      ) as Given<Declared>,
  }
}

/** The order of a list: a field, where there are several, and the direction. */
export type Order<Field extends string = string> = {
  /** Absent for an order in two directions only. */
  by?: { description: string; shape: z.ZodType<Field>; fields: Field[] }
  /** Of the input: the parameters `orderBy` and `direction` of REST. */
  shape: z.ZodObject
}

/** The direction of an order. */
export const directionShape = direction
  .nullish()
  .meta({ description: 'Ascending (the default) or descending.', example: 'desc' })

/** The order of a list that has one order in two directions. */
export const DIRECTION: Order<never> = { shape: z.strictObject({ direction: directionShape }) }

/** Declares the order of a list of `typeName` by the descriptions of the fields. */
export function defineOrder<const Field extends string>(
  typeName: string,
  fields: Record<Field, string>,
  words: { description: string; fields: string; field: string },
): Order<Field> & { by: object } {
  const { shape, values } = defineEnum(`${typeName}OrderField`, words.fields, fields)
  return {
    by: { description: words.description, shape, fields: values },
    shape: z.strictObject({
      orderBy: shape.nullish().meta({ description: words.field }),
      direction: directionShape,
    }),
  }
}
