import type { TenantCall } from '../../../access/endpoint.http.ts'
import { getRequestWords } from '../../../languages/request-language.ts'
import { readSessionToken } from '../../../pages/cookies.ts'
import { FinishedSignInPage } from '../../../pages/parts/outcome.pages.tsx'
import { findSignInStart, renderComponent } from '../../../pages/responses.http.ts'
import { findBrowserSession } from '../../../sessions/sessions.ts'
import { createExpiredSignInError } from '../../interactions/interactions.ts'

/**
 * The page that a signed-in user who goes back to a sign-in, or sends one of its forms again, is shown when it is finished.
 * It leads to the client, if an administrator made it. Throws AppError (410) in a browser without a session.
 */
export async function renderFinishedPage(
  { event, tenant, ctx }: TenantCall,
  clientId: string | null,
): Promise<Response> {
  const token = readSessionToken(event.req.headers.get('cookie'), ctx.tenant)
  const session = token && (await findBrowserSession(ctx.tenant, token))
  if (!session) throw createExpiredSignInError()
  const startAt = await findSignInStart(tenant, clientId, getRequestWords(ctx), { isVouched: true })
  return renderComponent(ctx, FinishedSignInPage, { tenant, person: session, startAt }, { status: 410 })
}
