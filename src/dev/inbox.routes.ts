import { getQuery, getRouterParam, type H3, type H3Event } from 'h3'
import { NotFound } from '../core/errors.ts'
import { findInboxMessage, listInboxMessages, type StoredMessage } from '../delivery/inbox.ts'
import { addReadRoute } from '../http/read-routes.http.ts'
import { renderMailDocument } from '../pages/mail-document.http.ts'
import { renderPage } from '../pages/render-page.pages.tsx'
import { renderErrorPage } from '../pages/responses.http.ts'
import { InboxPage, MailPage } from './development.pages.tsx'

type DesignedMail = StoredMessage & { html: string }

const readAddressFilter = (event: H3Event): string | null => {
  const { to } = getQuery(event)
  // A + in a query decodes to a space, which is taken as the + of a phone number.
  return typeof to === 'string' && to !== '' ? to.replace(/^ (?=\d)/, '+') : null
}

/** Renders the designed mail with the id of the path, or an error page. */
function renderMailOr404(event: H3Event, render: (mail: DesignedMail) => Response) {
  const message = findInboxMessage(getRouterParam(event, 'id') ?? '')
  if (!message?.html) return renderErrorPage(new NotFound('mail'), event, null, null)
  return render({ ...message, html: message.html })
}

/** The development inbox as a page and as JSON; `?to=` filters by address. Never added in production. */
export function addInboxRoutes(app: H3): void {
  addReadRoute(app, '/dev/inbox', (event) => {
    const to = readAddressFilter(event)
    return renderPage(InboxPage({ messages: listInboxMessages(to), to }), { headers: { refresh: '5' } })
  })
  addReadRoute(app, '/dev/inbox.json', (event) =>
    Response.json(
      { messages: listInboxMessages(readAddressFilter(event)).map(({ html: _, ...message }) => message) },
      { headers: { 'cache-control': 'no-store' } },
    ),
  )
  addReadRoute(app, '/dev/inbox/:id', (event) =>
    renderMailOr404(event, (mail) => renderPage(MailPage({ mail }), { showsFrame: true })),
  )
  addReadRoute(app, '/dev/inbox/:id/html', (event) =>
    renderMailOr404(event, ({ html }) => renderMailDocument(html)),
  )
}
