import { type FieldFault, InvalidInput } from '../errors.ts'
import { faultsOf } from '../fields.ts'
import { DEFAULT_PAGE_SIZE, type PageArgs, rangeFaults } from '../page.ts'
import { repeatedNames } from '../params.ts'
import { filterReader } from './filter.ts'
import type { RestRequest, RestRoute } from './route.ts'

/** What a route's `paged` lets through. */
export const PAGING = {
  true: ['page', 'pageSize', 'after', 'before'],
  'by-cursor': ['pageSize', 'after', 'before'],
  undefined: [],
} as const
type PagingName = (typeof PAGING)['true'][number]

/** Plain decimal digits: Number() would also take '1e3', ' 5', '0x10' and ''. What is none becomes NaN, out of range. */
const WHOLE_NUMBER = /^(0|[1-9][0-9]{0,14})$/
const wholeNumber = (value: string | undefined) =>
  value === undefined ? undefined : WHOLE_NUMBER.test(value) ? Number(value) : Number.NaN

/** Paging as services take it; adds what is wrong with it, under the names that it has here. */
function readPaging(
  paged: RestRoute['paged'],
  given: Partial<Record<PagingName, string>>,
  faults: FieldFault[],
): PageArgs {
  if (!paged) return {}
  const [page, pageSize] = [wholeNumber(given.page), wholeNumber(given.pageSize)]
  const { after, before } = given
  faults.push(...rangeFaults({ page, pageSize }))
  const cursors = (['after', 'before'] as const).filter((name) => given[name] !== undefined)
  if (cursors.length > 0 && page !== undefined)
    faults.push({ field: 'page', description: `cannot be combined with ${cursors.join(', ')}` })
  if (cursors.length > 1) faults.push({ field: 'before', description: 'cannot be combined with after' })
  if (before !== undefined) return { last: pageSize ?? DEFAULT_PAGE_SIZE, before }
  if (after !== undefined || paged === 'by-cursor') return { first: pageSize ?? DEFAULT_PAGE_SIZE, after }
  return { page, pageSize }
}

/** Those that the service would find, of fields that are not named yet. */
function serviceFaults(
  route: RestRoute,
  query: object,
  filter: object,
  named: readonly FieldFault[],
): FieldFault[] {
  const seen = new Set(named.map(({ field }) => field))
  const parsed = [
    route.filter?.safeParse(filter, { reportInput: true }),
    route.query?.safeParse(query, { reportInput: true }),
  ]
  return parsed
    .flatMap((result) => (result?.error ? faultsOf(result.error) : []))
    .filter(({ field }) => !seen.has(field) && seen.add(field))
}

/**
 * Reads the query of a request to `route`. Throws InvalidInput that names every parameter that is unknown, repeated,
 * out of its range, cannot be combined with another, or is not written as the filter's shape needs it; and then also
 * those that the service would refuse, which is their judge as long as nothing else is wrong.
 */
export function parseQuery(
  route: RestRoute,
  search: URLSearchParams,
): Pick<RestRequest, 'query' | 'paging' | 'filter'> {
  const faults: FieldFault[] = []
  const query: Record<string, string> = {}
  const given: Partial<Record<PagingName, string>> = {}
  const filter = route.filter && filterReader(route.filter)
  const pagingNames: readonly PagingName[] = PAGING[`${route.paged}`]
  const repeated = new Set(repeatedNames(search))
  for (const [name, value] of new Map(search)) {
    const pagingName = pagingNames.find((known) => known === name)
    if (repeated.has(name)) faults.push({ field: name, description: 'is given more than once' })
    else if (pagingName) given[pagingName] = value
    else if (route.query && Object.hasOwn(route.query.shape, name)) query[name] = value
    else if (!filter?.take(name, value)) {
      const members = filter?.membersOf(name) ?? []
      const instead = members.length > 0 ? `, only ${members.join(', ')}` : ''
      faults.push({ field: name, description: `is not a parameter of this request${instead}` })
    }
  }
  const paging = readPaging(route.paged, given, faults)
  faults.push(...(filter?.faults ?? []))
  const members = filter?.result() ?? {}
  if (faults.length > 0) throw new InvalidInput([...faults, ...serviceFaults(route, query, members, faults)])
  return { query, paging, filter: members }
}
