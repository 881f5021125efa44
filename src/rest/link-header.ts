import { getPageLinks } from '../schema/page.ts'

/**
 * Builds the Link header of a list (RFC 8288): the first page, and the next and previous page if they exist,
 * by cursor even when the request had a page number. Other parameters of the query stay unchanged.
 */
export function buildLinkHeader(path: string, query: URLSearchParams, body: object): string {
  const { after, before } = getPageLinks(body)
  const buildLink = (rel: string, cursor: Record<string, string> = {}) => {
    const target = new URLSearchParams(query)
    for (const name of ['page', 'after', 'before']) target.delete(name)
    for (const [name, value] of Object.entries(cursor)) target.set(name, value)
    return `<${path}${target.size > 0 ? `?${target}` : ''}>; rel="${rel}"`
  }
  return [
    buildLink('first'),
    ...(before === null ? [] : [buildLink('prev', { before })]),
    ...(after === null ? [] : [buildLink('next', { after })]),
  ].join(', ')
}
