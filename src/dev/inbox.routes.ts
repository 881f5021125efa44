import { getQuery, type H3, type H3Event } from 'h3'
import { listInbox } from '../delivery/inbox.ts'
import { renderPage } from '../oidc/pages/render-page.pages.tsx'
import { InboxPage } from './inbox.pages.tsx'

const addressOf = (event: H3Event): string | null => {
  const { to } = getQuery(event)
  // The + of a number means a space in a query; people will not think of %2B.
  return typeof to === 'string' && to !== '' ? to.replace(/^ (?=\d)/, '+') : null
}

/** What development would have sent, as a page and as JSON (`?to=` narrows it). Never added in production. */
export function addInboxRoutes(app: H3): void {
  app.get('/dev/inbox', (event) => {
    const to = addressOf(event)
    return renderPage(InboxPage({ messages: listInbox(to), to }))
  })
  app.get('/dev/inbox.json', (event) =>
    Response.json({ messages: listInbox(addressOf(event)) }, { headers: { 'cache-control': 'no-store' } }),
  )
}
