import { Conflict, NotFound, Unavailable } from '../../../core/errors.ts'
import { readQuery } from '../../../http/request.http.ts'
import { requireSingleParams } from '../../../http/request-body.http.ts'
import { listSignInProviders, type SignInProvider } from '../../../idps/sign-in-providers.ts'
import { getRequestWords } from '../../../languages/request-language.ts'
import { unsealAnswer } from '../../../oidc/signin/provider/callback-answer.ts'
import { readHandle } from '../../../oidc/signin/provider/provider-attempt.ts'
import {
  beginConnection,
  finishConnection,
  rejectConnection,
} from '../../../oidc/signin/provider/provider-connection.ts'
import { RejectedIdentity } from '../../../oidc/signin/provider/provider-sign-in.ts'
import { toSentForm } from '../../../oidc/signin/step/sent-forms.ts'
import { answerOnce } from '../../../pages/form-answers.ts'
import { transferToProvider } from '../../../pages/provider-transfer.http.ts'
import { addCookies } from '../../../pages/responses.http.ts'
import { requireRecentSignIn, requireStepUp } from '../../step-up.ts'
import { type AccountVisit, redirectToNotice } from '../account-page.http.ts'
import { createAccountPagesRequest } from '../account-sign-in.http.ts'
import { type PageProblem, toPageProblem } from '../page-problem.ts'

/** The page that offers to connect an identity, and takes the answer of the provider. */
const PATH = '/sign-in-methods'

/** Shows the page with what went wrong. */
type ShowProblem = (problem: PageProblem) => Promise<Response>

/** The providers at which users of the tenant sign in. */
export const listConnectableProviders = ({ call: { tenant } }: AccountVisit): SignInProvider[] =>
  tenant.signInMethods.includes('provider') ? listSignInProviders(tenant) : []

const readCookies = ({ call }: AccountVisit): string | null => call.event.req.headers.get('cookie')

const WORDS = {
  canceled: 'methods.connectCanceled',
  misconfigured: 'methods.connectMisconfigured',
  rejected: 'methods.connectRejected',
  unavailable: 'methods.connectUnavailable',
} as const

const isAboutIdentity = ({ fields }: Conflict): boolean => fields.some(({ field }) => field === 'externalId')

/** The words for an error about the provider, and the status of the page; null for any other error. */
function describeFailure(error: unknown) {
  if (error instanceof RejectedIdentity)
    return {
      key: WORDS[error.shownReason],
      status: ['unavailable', 'misconfigured'].includes(error.shownReason) ? 503 : 400,
    }
  if (error instanceof Conflict)
    return {
      key: isAboutIdentity(error) ? ('methods.taken' as const) : ('methods.connectedOther' as const),
      status: 409,
    }
  return error instanceof Unavailable ? { key: WORDS.unavailable, status: 503 } : null
}

/** Shows why an identity is not connected. Throws an error that the page has no words for. */
function showFailure({ call }: AccountVisit, idpId: string, error: unknown, show: ShowProblem) {
  const failure = describeFailure(error)
  const name = call.tenant.idps.find(({ id }) => id === idpId)?.name ?? idpId
  const problem = failure
    ? {
        messages: [getRequestWords(call.ctx).text(failure.key, { name })],
        values: {},
        status: failure.status,
      }
    : toPageProblem(getRequestWords(call.ctx), error, {}, {})
  if (!problem) throw error
  return show(problem)
}

/**
 * Sends the browser to the provider; `show` shows the page when the provider does not respond. Throws NotFound, and as
 * beginConnection and requireStepUp.
 */
export async function redirectToConnection(
  visit: AccountVisit,
  idpId: string,
  show: ShowProblem,
): Promise<Response> {
  const { call, ctx } = visit
  const { userId, sessionId } = await requireRecentSignIn(ctx)
  const provider = listConnectableProviders(visit).find(({ id }) => id === idpId)
  if (!provider) throw new NotFound('identity provider')
  const request = createAccountPagesRequest(`/${ctx.tenant}/account${PATH}`, {
    userId,
    connectsIn: sessionId,
  })
  try {
    const { url, cookies } = await beginConnection(ctx, { request, idpId, cookies: readCookies(visit) })
    return addCookies(transferToProvider(call.ctx, { tenant: call.tenant, provider, url }), cookies)
  } catch (error) {
    return showFailure(visit, idpId, error, show)
  }
}

/** Takes the answer of a provider; null when the URL has none. `show` shows the page with what went wrong. */
export async function receiveConnection(visit: AccountVisit, show: ShowProblem): Promise<Response | null> {
  const { call, ctx } = visit
  const { idp = '', answer: sealed } = requireSingleParams(readQuery(call.event))
  if (sealed === undefined) return null
  const answer = unsealAnswer(ctx.tenant, idp, sealed)
  const { error, state } = answer
  if (error !== null && state === '') {
    // Any site can make a link with a sealed answer of a provider that does not exist: the page must not show its text.
    if (!call.tenant.idps.some(({ id }) => id === idp)) throw new NotFound('identity provider')
    return rejectConnection(ctx, idp, error).catch((thrown) => showFailure(visit, idp, thrown, show))
  }
  // A callback that is opened again has the answer sealed anew.
  const fields = { idp, state: answer.state, code: answer.code ?? '', error: answer.error ?? '' }
  const handle = readHandle(answer.state)
  const sent = { ...toSentForm(call, handle, 'connect', fields), owner: ['connect', handle] }
  const connect = async () => {
    try {
      const owner = await requireStepUp(ctx)
      await finishConnection(ctx, owner, { idpId: idp, answer, cookies: readCookies(visit) })
      return redirectToNotice(visit, PATH, 'connected')
    } catch (error) {
      return showFailure(visit, idp, error, show)
    }
  }
  return (await answerOnce(sent, connect)).response
}
