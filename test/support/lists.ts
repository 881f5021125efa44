import type { Surfaces } from './surfaces.ts'

/** The targets of a Link header by their relation (RFC 8288), as plain as this server writes it. */
export const linksIn = (headers: Headers): Record<string, string> =>
  Object.fromEntries(
    [...(headers.get('link') ?? '').matchAll(/<([^>]*)>; rel="([^"]*)"/g)].map(([, target, rel]) => [
      rel ?? '',
      target ?? '',
    ]),
  )

// biome-ignore lint/suspicious/noExplicitAny: rows of whatever list
type Row = any

/** The pages of a list over REST, from `path` on along the links of one relation. */
export async function walk(
  app: Surfaces,
  tenant: string,
  token: string,
  path: string,
  collection: string,
  rel: 'next' | 'prev',
): Promise<Row[][]> {
  const pages: Row[][] = []
  for (let at: string | undefined = path; at !== undefined; ) {
    const { status, headers, body } = await app.rest(tenant, token, 'GET', at)
    if (status !== 200) throw new Error(`${at}: ${JSON.stringify(body)}`)
    pages.push(body[collection])
    at = linksIn(headers)[rel]?.slice(`/${tenant}/api/v1`.length)
  }
  return pages
}
