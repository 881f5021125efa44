import type * as z from 'zod'
import type { Filter, FilterMember, Given } from '../../schema/lists.ts'
import type { BindParameter } from '../keyset.ts'

/** A range of time of a filter. */
type TimeRange = { gte?: Date | null; lt?: Date | null }

/** The bounds of a range, as a `KeysetOrder` has them. */
export const bindRange = (range: TimeRange | undefined, bind: BindParameter) => ({
  from: range?.gte ? `${bind(range.gte)}::timestamptz` : undefined,
  before: range?.lt ? `${bind(range.lt)}::timestamptz` : undefined,
})

function buildConditions(
  name: string,
  { shape, column = `"${name}"`, toKey }: FilterMember,
  value: unknown,
  alias: string,
  bind: BindParameter,
): string[] {
  if (column === null || value === undefined) return []
  const compared = `${alias}.${typeof column === 'string' ? column : column(value as never)}`
  if (shape.def.type === 'object') {
    const { from, before } = bindRange(value as TimeRange, bind)
    return [...(from ? [`${compared} >= ${from}`] : []), ...(before ? [`${compared} < ${before}`] : [])]
  }
  const key = toKey ? toKey(value as never) : value
  return [`${compared} = ${bind(key)}::${shape.def.type === 'boolean' ? 'boolean' : 'text'}`]
}

/** The conditions of the members `names` of a filter on the columns of the table `alias`. */
export const buildFilterConditions = <Declared extends Record<string, FilterMember<z.ZodType>>>(
  filter: Filter<Declared>,
  given: Given<Declared>,
  { names = filter.names, alias }: { names?: readonly (keyof Declared & string)[]; alias: string },
  bind: BindParameter,
): string[] =>
  names.flatMap((name) =>
    buildConditions(
      name,
      filter.members[name] as FilterMember,
      (given as Record<string, unknown>)[name],
      alias,
      bind,
    ),
  )
