import { csrfIn, type PageBrowser } from './page-browser.ts'

/** What a browser follows of a response; a repeated form may lead to the end of the sign-in. */
const toOutcome = async (response: Response) => ({
  status: response.status,
  location: response.headers.get('location')?.replace(/\?again=1$/, '') ?? null,
  cookies: response.headers.getSetCookie(),
  body: await response.clone().text(),
})
export type Outcome = Awaited<ReturnType<typeof toOutcome>>

/** Sends a request `count` times at once, and again as a browser that has dropped all responses, and as one that has not. */
export async function repeat(by: PageBrowser, send: () => Promise<Response>, count = 4) {
  const before = [...by.cookies]
  const together = await Promise.all(Array.from({ length: count }, () => send()))
  const after = [...by.cookies]
  const forget = (cookies: typeof before) => {
    by.cookies.clear()
    for (const [name, value] of cookies) by.cookies.set(name, value)
  }
  forget(before)
  const dropped = await send()
  forget(after)
  const back = await send()
  forget(before)
  const last = await send()
  const outcomes: Outcome[] = []
  for (const response of [...together, dropped, back, last]) outcomes.push(await toOutcome(response))
  return { outcomes, last }
}

/** Sends a form of a page so. */
export const repeatForm = (
  by: PageBrowser,
  page: { html: string; path: string },
  form: Record<string, string>,
) => repeat(by, () => by.post(page.path, { csrf: csrfIn(page.html), ...form }))
