import type { TenantCall } from '../../../access/endpoint.http.ts'
import { nameCookie } from '../../../pages/cookies.ts'
import { answerOnce, findAnswer, type SentForm } from '../../../pages/form-answers.ts'
import { nameInteractionCookie } from '../../interactions/browser-binding.ts'
import type { SignInStep } from './sign-in-step.ts'

/** A form of a sign-in, or what another site sent back to it, by its place in the sign-in. */
export const toSentForm = (
  { ctx, event }: TenantCall,
  handle: string,
  place: string,
  fields: Record<string, string>,
): SentForm => ({
  ctx,
  owner: ['signin', handle],
  fields: { ...fields, ':place': place },
  // A proof binds the sign-in anew, but a sign-in that only asks a signed-in user has none.
  cookieNames: [nameInteractionCookie(ctx.tenant, handle), nameCookie('sid', ctx.tenant)],
  cookies: event.req.headers.get('cookie'),
})

/** The end of a sign-in, which the page after its last form answers. */
const toSentEnd = (call: TenantCall, handle: string): SentForm => ({
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

/** Responds to a form once, as `answerOnce` does. */
export async function answerFormOnce(sent: SentForm, work: () => Promise<Response>): Promise<Response> {
  const { response, isRepeated } = await answerOnce(sent, work)
  return isRepeated ? markRepeated(response) : response
}

/** The response to a form that was sent before; null without one. */
export async function findFormAnswer(sent: SentForm): Promise<Response | null> {
  const response = await findAnswer(sent)
  return response && markRepeated(response)
}

/** Ends a sign-in once: of requests at the same time, each gets the response of the first. */
export const answerEndOnce = async (
  { call, interaction }: SignInStep,
  work: () => Promise<Response>,
): Promise<Response> => (await answerOnce(toSentEnd(call, interaction.handle), work)).response

/** The end of a sign-in, for a page that follows a repeated form; null for any other. */
export const findEndAnswer = async (call: TenantCall, handle: string): Promise<Response | null> =>
  call.event.url.searchParams.has(REPEATED) ? findAnswer(toSentEnd(call, handle)) : null
