import { type FieldFault, InvalidInput } from '../errors.ts'
import { rangeFaults } from '../page.ts'
import { repeatedNames } from '../params.ts'
import type { RestRequest, RestRoute } from './route.ts'

const PAGING = ['page', 'pageSize'] as const
/** Plain decimal digits: Number() would also take '1e3', ' 5', '0x10' and ''. What is none becomes NaN, out of range. */
const WHOLE_NUMBER = /^(0|[1-9][0-9]{0,14})$/

/**
 * Reads the query of a request to `route`. Throws InvalidInput that names every unknown or repeated parameter, and
 * every page or pageSize out of its range.
 */
export function parseQuery(
  route: RestRoute,
  search: URLSearchParams,
): Pick<RestRequest, 'query' | 'paging' | 'filter'> {
  const faults: FieldFault[] = []
  const query: Record<string, string> = {}
  const paging: RestRequest['paging'] = {}
  const repeated = new Set(repeatedNames(search))
  for (const [name, value] of new Map(search)) {
    const pagingName = route.paged && PAGING.find((known) => known === name)
    if (repeated.has(name)) faults.push({ field: name, description: 'is given more than once' })
    else if (pagingName) paging[pagingName] = WHOLE_NUMBER.test(value) ? Number(value) : Number.NaN
    else if (route.query?.includes(name)) query[name] = value
    else faults.push({ field: name, description: 'is not a parameter of this request' })
  }
  faults.push(...rangeFaults(paging))
  if (faults.length > 0) throw new InvalidInput(faults)
  return { query, paging, filter: {} }
}
