import type { TenantCall } from '../../../access/endpoint.http.ts'
import { readText } from '../../../http/compression.ts'
import { getRequestWords } from '../../../languages/request-language.ts'
import { readSessionToken } from '../../../pages/cookies.ts'
import { answerOnce, findAnswer } from '../../../pages/form-answers.ts'
import { FinishedSignInPage } from '../../../pages/parts/outcome.pages.tsx'
import { findSignInStart, renderComponent } from '../../../pages/responses.http.ts'
import { findBrowserSession } from '../../../sessions/sessions.ts'
import { createExpiredSignInError } from '../../interactions/interactions.ts'
import { findIssuedCode, isCodeSpent } from '../../token/authorization-codes.ts'
import { toSentForm } from './sent-forms.ts'
import type { SentStep, SignInStep } from './sign-in-step.ts'

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

/** The end of a sign-in, which the page after its last form answers. */
const toSentEnd = (call: TenantCall, handle: string): SentStep => ({
  ...toSentForm(call, handle, 'end', {}),
  owner: ['signin-end', handle],
})

/** The parameter of a page that follows a repeated form. */
const REPEATED = 'again'
const OWN_PAGE = /^\/[^/?]+\/signin\/[^?]+$/

/**
 * A repeated form that leads to a page of the sign-in may lead to its end, when the page has answered the first one. Only
 * then: a user who goes back to the page must not be sent to the client with a used code.
 */
function markRepeated(response: Response): Response {
  const location = response.headers.get('location') ?? ''
  if (OWN_PAGE.test(location)) response.headers.set('location', `${location}?${REPEATED}=1`)
  return response
}

/**
 * A response that is sent again. A client that redeems a code twice loses its grant: where the response has a code that is
 * of no use any more, the user is told that the sign-in is finished.
 */
async function repeatResponse({ call }: SentStep, response: Response): Promise<Response> {
  const text = response.headers.get('location') ?? (await readText(response))
  const code = findIssuedCode(call.tenant, text)
  if (code && (await isCodeSpent(call.ctx.db, code))) return renderFinishedPage(call, code.clientId)
  return markRepeated(response)
}

/** Responds to a form once, as `answerOnce` does. */
export async function answerFormOnce(sent: SentStep, work: () => Promise<Response>): Promise<Response> {
  const { response, isRepeated } = await answerOnce(sent, work)
  return isRepeated ? repeatResponse(sent, response) : response
}

/** The response to a form that was sent before; null without one. */
export async function findFormAnswer(sent: SentStep): Promise<Response | null> {
  const response = await findAnswer(sent)
  return response && repeatResponse(sent, response)
}

/** Ends a sign-in once: of requests at the same time, each gets the response of the first. */
export const answerEndOnce = (
  { call, interaction }: SignInStep,
  work: () => Promise<Response>,
): Promise<Response> => answerFormOnce(toSentEnd(call, interaction.handle), work)

/** The end of a sign-in, for a page that follows a repeated form; null for any other. */
export const findEndAnswer = async (call: TenantCall, handle: string): Promise<Response | null> =>
  call.event.url.searchParams.has(REPEATED) ? findFormAnswer(toSentEnd(call, handle)) : null
