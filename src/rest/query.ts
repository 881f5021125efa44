import { type FieldIssue, InvalidInput } from '../core/errors.ts'
import { findRepeatedNames } from '../http/repeated-parameters.ts'
import { PARSE_OPTIONS, toFieldIssues } from '../schema/input-shapes.ts'
import { DEFAULT_PAGE_SIZE, findRangeIssues, type PageArgs } from '../schema/page.ts'
import { createFilterReader } from './filter.ts'
import type { RestRequest, RestRoute } from './route.ts'

/** The parameters of a list. */
export const PAGING = ['page', 'pageSize', 'after', 'before'] as const
type PagingName = (typeof PAGING)[number]

/**
 * Decimal digits only: Number() also accepts '1e3', ' 5', '0x10' and ''. Other values become NaN, which is
 * out of range.
 */
const WHOLE_NUMBER = /^(0|[1-9][0-9]{0,14})$/
const parseWholeNumber = (value: string | undefined) =>
  value === undefined ? undefined : WHOLE_NUMBER.test(value) ? Number(value) : Number.NaN

/**
 * Converts the paging parameters to those of services; adds issues under the names of the query parameters.
 */
function parsePagingQuery(
  paged: RestRoute['paged'],
  parameters: Partial<Record<PagingName, string>>,
  issues: FieldIssue[],
): PageArgs {
  if (!paged) return {}
  const [page, pageSize] = [parseWholeNumber(parameters.page), parseWholeNumber(parameters.pageSize)]
  const { after, before } = parameters
  issues.push(...findRangeIssues({ page, pageSize }))
  const cursors = (['after', 'before'] as const).filter((name) => parameters[name] !== undefined)
  if (cursors.length > 0 && page !== undefined)
    issues.push({ field: 'page', description: `cannot be combined with ${cursors.join(', ')}` })
  if (cursors.length > 1) issues.push({ field: 'before', description: 'cannot be combined with after' })
  if (before !== undefined) return { last: pageSize ?? DEFAULT_PAGE_SIZE, before }
  if (after !== undefined || (paged === 'by-cursor' && page === undefined))
    return { first: pageSize ?? DEFAULT_PAGE_SIZE, after }
  return { page, pageSize }
}

/** Finds the issues that the service would find, of fields without an issue so far. */
function findServiceIssues(
  route: RestRoute,
  query: object,
  filter: object,
  known: readonly FieldIssue[],
): FieldIssue[] {
  const seen = new Set(known.map(({ field }) => field))
  const parsed = [
    route.filter?.safeParse(filter, PARSE_OPTIONS),
    route.query?.safeParse(query, PARSE_OPTIONS),
  ]
  return parsed
    .flatMap((result) => (result?.error ? toFieldIssues(result.error) : []))
    .filter(({ field }) => !seen.has(field) && seen.add(field))
}

/**
 * Parses the query of a request. Throws InvalidInput with every parameter that is unknown, repeated, out of
 * range, not combinable with another or malformed, and those that the service would reject. Without such an
 * issue, the service validates.
 */
export function parseQuery(
  route: RestRoute,
  search: URLSearchParams,
): Pick<RestRequest, 'query' | 'paging' | 'filter'> {
  const issues: FieldIssue[] = []
  const query: Record<string, string> = {}
  const pagingParameters: Partial<Record<PagingName, string>> = {}
  const filter = route.filter && createFilterReader(route.filter)
  const pagingNames: readonly PagingName[] = route.paged ? PAGING : []
  const repeated = new Set(findRepeatedNames(search.keys()))
  for (const [name, value] of new Map(search)) {
    const pagingName = pagingNames.find((paging) => paging === name)
    if (repeated.has(name)) issues.push({ field: name, description: 'is given more than once' })
    else if (pagingName) pagingParameters[pagingName] = value
    else if (route.query && Object.hasOwn(route.query.shape, name)) query[name] = value
    else if (!filter?.addParameter(name, value)) {
      const members = filter?.listMembers(name) ?? []
      const instead = members.length > 0 ? `, only ${members.join(', ')}` : ''
      issues.push({ field: name, description: `is not a parameter of this request${instead}` })
    }
  }
  const paging = parsePagingQuery(route.paged, pagingParameters, issues)
  issues.push(...(filter?.issues ?? []))
  const members = filter?.toFilter() ?? {}
  if (issues.length > 0)
    throw new InvalidInput([...issues, ...findServiceIssues(route, query, members, issues)])
  return { query, paging, filter: members }
}
