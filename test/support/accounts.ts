import { decodeJwt } from 'jose'
import { dbFor } from './database.ts'
import type { Person } from './fixtures.ts'
import { accountIn, type PageBrowser } from './page-browser.ts'
import { answerIn } from './protocol.ts'
import { test as base } from './visitor.ts'

type Page = { html: string; path: string; location: string | null }

/** `test` with browsers in which several users are signed in. */
export const test = base
  /** Makes a browser in which users signed in one after the other on the pages; the last one is current. */
  .extend('openAccounts', { scope: 'file' }, ({ newBrowser, newPerson, oidc }) => async (count: number) => {
    const browser = newBrowser()
    const people: Person[] = []
    for (let index = 0; index < count; index++) {
      const person = await newPerson()
      people.push(person)
      await oidc.signIn(browser, person.email, { prompt: 'login' })
    }
    return { browser, people }
  })
  /** Two accounts, Ada and Eve, in a browser. Eve is current. */
  .extend('pair', async ({ openAccounts }) => {
    const { browser, people } = await openAccounts(2)
    const [ada, eve] = people as [Person, Person]
    return { browser, ada, eve }
  })
  /** Opens an authorize request; returns the page, or where the browser was sent. */
  .extend(
    'visit',
    { scope: 'file' },
    ({ oidc }) =>
      async (browser: PageBrowser, more: Record<string, string> = {}): Promise<Page> => {
        const { response, path, location } = await browser.open(oidc.authorizePath(more))
        return { html: await response.text(), path, location }
      },
  )
  /** Submits a form of a page. */
  .extend(
    'post',
    { scope: 'file' },
    () =>
      async (browser: PageBrowser, page: Page, form: Record<string, string>): Promise<Page> => {
        const { response, path, location } = await browser.submit(page, form)
        return { html: await response.text(), path: path || page.path, location }
      },
  )
  /** The user whom the code of a redirect to the client was issued for. */
  .extend('subjectAt', { scope: 'file' }, ({ oidc }) => async (location: string | null) => {
    const { body } = await oidc.exchange(answerIn(location).code ?? '')
    return decodeJwt(body.id_token ?? '').sub
  })
  /** Why each browser session of a user ended; null for one that is active. */
  .extend('listEnds', { scope: 'file' }, ({ tenant }) => async ({ id }: Person) => {
    const rows = await dbFor(tenant).session.findMany({
      where: { tenantId: tenant, userId: id, kind: 'browser' },
      orderBy: { id: 'asc' },
    })
    return rows.map(({ endReason }) => endReason)
  })

/** The form that chooses an account. */
export const toChoice = ({ html }: Page, { email }: Person, step = 'continue') => ({
  step,
  account: accountIn(html, email),
})
