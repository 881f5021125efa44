import type { TenantCall } from '../../access/endpoint.http.ts'
import { openInteraction } from '../../oidc/interactions/browser-binding.ts'
import { buildSignInPath } from '../../oidc/interactions/sign-in-path.ts'
import {
  ACCOUNT_PAGES_ID,
  type AccountPagesRequest,
  EMPTY_REQUEST,
  type Prompt,
} from '../../oidc/model/authorize-request.ts'
import { redirectTo } from '../../pages/responses.http.ts'

/** Who is to sign in, how recently and how, and what is asked; anyone at any time by default. */
type Demand = {
  userId?: string | null
  maxAgeSeconds?: number | null
  /** The `acr` that the sign-in must have; null for any. */
  acr?: string | null
  prompt?: Prompt[]
  /** The session in which an identity is connected. */
  connectsIn?: string | null
}

/** The request of the account pages that leads to the page at the path `returnTo`. */
export const createAccountPagesRequest = (
  returnTo: string,
  { userId = null, maxAgeSeconds = null, acr = null, prompt = [], connectsIn = null }: Demand,
): AccountPagesRequest => ({
  ...EMPTY_REQUEST,
  responseMode: 'account',
  clientId: ACCOUNT_PAGES_ID,
  returnTo,
  connectsIn,
  prompt,
  maxAgeSeconds,
  claims: acr === null ? null : { userinfo: {}, id_token: { acr: { essential: true, value: acr } } },
  subjectHint: userId,
})

/** Leads to the hosted sign-in, which leads back to the account page at the path `returnTo`. */
export async function redirectToSignIn({ event, ctx }: TenantCall, returnTo: string, demand: Demand = {}) {
  const request = createAccountPagesRequest(returnTo, demand)
  const { handle, cookies } = await openInteraction(ctx, request, event.req.headers.get('cookie'))
  return redirectTo(buildSignInPath(ctx.tenant, handle, request.clientId), cookies)
}
