import type { TestApp } from './app.ts'

/** The targets of a Link header by relation (RFC 8288); reads only the form that this server writes. */
export const linksIn = (headers: Headers): Record<string, string> =>
  Object.fromEntries(
    [...(headers.get('link') ?? '').matchAll(/<([^>]*)>; rel="([^"]*)"/g)].map(([, target, rel]) => [
      rel ?? '',
      target ?? '',
    ]),
  )

// biome-ignore lint/suspicious/noExplicitAny: rows of any list
type Row = any

/** The pages of a REST list, from `path` along the links of one relation. */
export async function walk(
  app: Pick<TestApp, 'rest'>,
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
