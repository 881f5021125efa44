import { Conflict, NotFound, Unavailable } from '../../core/errors.ts'
import { readTarget } from '../../http/request.http.ts'
import { requireSingleParams } from '../../http/request-body.http.ts'
import { listSignInProviders, type SignInProvider } from '../../idps/sign-in-providers.ts'
import { getRequestWords } from '../../languages/request-language.ts'
import { bindBrowser } from '../../oidc/interactions/browser-binding.ts'
import { unsealAnswer } from '../../oidc/signin/provider/callback-answer.ts'
import { beginConnection, finishConnection } from '../../oidc/signin/provider/provider-connection.ts'
import { RejectedIdentity } from '../../oidc/signin/provider/provider-sign-in.ts'
import { INTERACTION_COOKIE, readCookie } from '../../pages/cookies.ts'
import { transferToProvider } from '../../pages/provider-transfer.http.ts'
import { addCookies } from '../../pages/responses.http.ts'
import { requireStepUp } from '../step-up.ts'
import { type AccountVisit, redirectToNotice } from './account-page.http.ts'
import { createAccountPagesRequest } from './account-sign-in.http.ts'
import { type PageProblem, toPageProblem } from './page-problem.ts'

/** The page that offers to connect an identity, and takes the answer of the provider. */
const PATH = '/sign-in-methods'

/** The providers at which users of the tenant sign in. */
export const listConnectableProviders = ({ call: { tenant } }: AccountVisit): SignInProvider[] =>
  tenant.signInMethods.includes('provider') ? listSignInProviders(tenant) : []

const readBrowserKey = ({ call }: AccountVisit): string | null =>
  readCookie(call.event.req.headers.get('cookie'), INTERACTION_COOKIE)

/** Sends the browser to the provider. Throws NotFound, and as beginConnection and requireStepUp. */
export async function leadToConnection(visit: AccountVisit, idpId: string): Promise<Response> {
  const { call, ctx } = visit
  const { userId, sessionId } = await requireStepUp(ctx)
  const provider = listConnectableProviders(visit).find(({ id }) => id === idpId)
  if (!provider) throw new NotFound('identity provider')
  const browser = bindBrowser(ctx.tenant, readBrowserKey(visit))
  const request = createAccountPagesRequest(`/${ctx.tenant}/account${PATH}`, {
    userId,
    connectsIn: sessionId,
  })
  const url = await beginConnection(ctx, { request, browserKey: browser.key, idpId })
  return addCookies(transferToProvider({ tenant: call.tenant, provider, url }), [browser.cookie])
}

const REASONS = {
  canceled: 'problem.provider-canceled',
  unavailable: 'problem.provider-unavailable',
} as const

/** What the page says about an identity that was not connected; null for an error that it has no words for. */
function describeProblem(error: unknown, name: string): PageProblem | null {
  const words = getRequestWords()
  const toProblem = (message: string, status: number) => ({ messages: [message], values: {}, status })
  if (error instanceof RejectedIdentity) {
    const { [error.reason as keyof typeof REASONS]: key = 'problem.provider-rejected' as const } = REASONS
    return toProblem(words.text(key, { name }), error.reason === 'unavailable' ? 503 : 400)
  }
  if (error instanceof Unavailable)
    return toProblem(words.text('problem.provider-unavailable', { name }), 503)
  if (error instanceof Conflict) {
    const isTaken = error.fields.some(({ field }) => field === 'externalId')
    return toProblem(words.text(isTaken ? 'methods.taken' : 'methods.connectedOther', { name }), 409)
  }
  return toPageProblem(error, {}, {})
}

/** Takes the answer of a provider; null when the URL has none. `show` shows the page with what went wrong. */
export async function receiveConnection(
  visit: AccountVisit,
  show: (problem: PageProblem) => Promise<Response>,
): Promise<Response | null> {
  const { call, ctx } = visit
  const { idp = '', answer: sealed } = requireSingleParams(readTarget(call.event).query)
  if (sealed === undefined) return null
  const answer = unsealAnswer(ctx.tenant, idp, sealed)
  try {
    const owner = await requireStepUp(ctx)
    await finishConnection(ctx, owner, { idpId: idp, answer, cookie: readBrowserKey(visit) })
    return redirectToNotice(visit, PATH, 'connected')
  } catch (error) {
    const name = call.tenant.idps.find(({ id }) => id === idp)?.name ?? idp
    const problem = describeProblem(error, name)
    if (!problem) throw error
    return show(problem)
  }
}
