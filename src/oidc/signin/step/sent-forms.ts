import type { TenantCall } from '../../../access/endpoint.http.ts'
import { nameCookie } from '../../../pages/cookies.ts'
import { nameInteractionCookie } from '../../interactions/browser-binding.ts'
import type { SentStep } from './sign-in-step.ts'

/** A form of a sign-in, or what another site sent back to it, by its place in the sign-in. */
export const toSentForm = (
  call: TenantCall,
  handle: string,
  place: string,
  fields: Record<string, string>,
): SentStep => ({
  call,
  ctx: call.ctx,
  owner: ['signin', handle],
  fields: { ...fields, ':place': place },
  // A proof binds the sign-in anew, but a sign-in that only asks a signed-in user has none.
  cookieNames: [nameInteractionCookie(call.ctx.tenant, handle), nameCookie('sid', call.ctx.tenant)],
  cookies: call.event.req.headers.get('cookie'),
})
