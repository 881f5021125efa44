import { onwardOf } from '../page.ts'

/**
 * The Link header of a list's answer (RFC 8288): the first page, and the ones after and before this one while there
 * are such, by cursor whichever way this one was asked for. Everything else of the query stays as it was.
 */
export function linksOf(path: string, query: URLSearchParams, answer: object): string {
  const { after, before } = onwardOf(answer)
  const linkTo = (rel: string, by: Record<string, string> = {}) => {
    const target = new URLSearchParams(query)
    for (const name of ['page', 'after', 'before']) target.delete(name)
    for (const [name, value] of Object.entries(by)) target.set(name, value)
    return `<${path}${target.size > 0 ? `?${target}` : ''}>; rel="${rel}"`
  }
  return [
    linkTo('first'),
    ...(before === null ? [] : [linkTo('prev', { before })]),
    ...(after === null ? [] : [linkTo('next', { after })]),
  ].join(', ')
}
