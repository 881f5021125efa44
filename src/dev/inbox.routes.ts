import { getQuery, type H3, type H3Event } from 'h3'
import { listInboxMessages } from '../delivery/inbox.ts'
import { addReadRoute } from '../http/read-routes.http.ts'
import { renderPage } from '../pages/render-page.pages.tsx'
import { InboxPage } from './inbox.pages.tsx'

const readAddressFilter = (event: H3Event): string | null => {
  const { to } = getQuery(event)
  // A + in a query decodes to a space, which is taken as the + of a phone number.
  return typeof to === 'string' && to !== '' ? to.replace(/^ (?=\d)/, '+') : null
}

/** The development inbox as a page and as JSON; `?to=` filters by address. Never added in production. */
export function addInboxRoutes(app: H3): void {
  addReadRoute(app, '/dev/inbox', (event) => {
    const to = readAddressFilter(event)
    return renderPage(InboxPage({ messages: listInboxMessages(to), to }), { headers: { refresh: '5' } })
  })
  addReadRoute(app, '/dev/inbox.json', (event) =>
    Response.json(
      { messages: listInboxMessages(readAddressFilter(event)) },
      { headers: { 'cache-control': 'no-store' } },
    ),
  )
}
