import type { H3 } from 'h3'
import type { TenantCall } from '../../access/endpoint.http.ts'
import { RateLimited } from '../../core/errors.ts'
import { log } from '../../core/log.ts'
import { readForm, requireSingleParams } from '../../http/request-body.http.ts'
import { buildCallbackUrl } from '../../idps/callback-url.ts'
import { findProviderRow } from '../../idps/sign-in-providers.ts'
import { addPageRoute, redirectTo } from '../../pages/responses.http.ts'
import type { Interaction } from '../interactions/interactions.ts'
import { type CallbackAnswer, readAnswer, sealAnswer, unsealAnswer } from './provider/callback-answer.ts'
import { claimAttempt, readHandle, readLeftHandle } from './provider/provider-attempt.ts'
import { rejectProviderInput } from './provider/provider-forms.http.ts'
import {
  RejectedIdentity,
  recordRejection,
  signInByProvider,
  toErrorRejection,
} from './provider/provider-sign-in.ts'
import { listMethodForms } from './sign-in-methods.http.ts'
import { addAccountCookies } from './step/added-account.http.ts'
import { answerFormOnce, findFormAnswer, renderFinishedPage } from './step/repeated-forms.http.ts'
import { toSentForm } from './step/sent-forms.ts'
import { createSecondFactorRule } from './step/sign-in.ts'
import { findSignInStep, redirectToPage } from './step/sign-in-step.http.ts'
import type { EnteredAccount, SignInStep } from './step/sign-in-step.ts'

/** Where identity providers send users back to. Apple posts its answer (form_post). */
export function addProviderCallbackRoutes(app: H3): void {
  addPageRoute(
    app,
    '/:tenant/oidc/callback/:idp',
    { GET: receiveAnswer, HEAD: null, POST: receivePostedAnswer },
    'authorize.refused',
  )
}

const getIdpId = ({ event }: TenantCall): string => event.context.params?.idp ?? ''

async function receivePostedAnswer(call: TenantCall): Promise<Response> {
  const idpId = getIdpId(call)
  const { tenant } = call.ctx
  const sealed = sealAnswer(tenant, idpId, readAnswer(await readForm(call.event)))
  return redirectTo(`${buildCallbackUrl(tenant, encodeURIComponent(idpId))}?answer=${sealed}`)
}

async function receiveAnswer(call: TenantCall): Promise<Response> {
  const params = requireSingleParams(call.event.url.searchParams)
  const answer = params.answer
    ? unsealAnswer(call.ctx.tenant, getIdpId(call), params.answer)
    : readAnswer(params)
  const left =
    answer.error !== null && answer.state === ''
      ? readLeftHandle(call.ctx.tenant, call.event.req.headers.get('cookie'))
      : null
  const handle = left ?? readHandle(answer.state)
  const { state, code, error, iss } = answer
  const fields = { state, code: code ?? '', error: error ?? '', iss: iss ?? '' }
  const sent = toSentForm(call, handle, `callback:${getIdpId(call)}`, fields)
  const signIn = await findSignInStep(call, handle)
  if (!signIn) return (await findFormAnswer(sent)) ?? renderFinishedPage(call, null)
  const { request } = signIn.interaction
  const path = request.responseMode === 'account' && request.connectsIn ? request.returnTo : null
  const work = async () => {
    if (path !== null) return redirectToAccountPage(call, path, answer)
    return left === null ? finishAttempt(signIn, answer) : showError(signIn, answer)
  }
  return left === null ? answerFormOnce(sent, work) : work()
}

/** The account page that asked for an identity takes the answer. */
function redirectToAccountPage(call: TenantCall, path: string, answer: CallbackAnswer): Response {
  const idp = getIdpId(call)
  return redirectTo(
    `${path}?${new URLSearchParams({ idp, answer: sealAnswer(call.ctx.tenant, idp, answer) })}`,
  )
}

/** False when another tab has signed in, or the tenant has switched the method off. */
const isProviderExpected = (signIn: SignInStep): boolean =>
  signIn.authorization.next.step === 'login' && 'provider' in listMethodForms(signIn)

/**
 * Shows an error that came without `state`, such as a cancellation. Any site can send one: the attempt stays open, and
 * nothing but the words of the page follows from it.
 */
async function showError(signIn: SignInStep, { error }: CallbackAnswer): Promise<Response> {
  const { call, interaction } = signIn
  const idpId = getIdpId(call)
  const isLeft = isProviderExpected(signIn) && interaction.progress.provider?.idpId === idpId
  if (error === null || !isLeft) return redirectToPage(signIn)
  const rejection = toErrorRejection(error)
  const limited = await recordRejection(call.ctx, interaction, idpId, rejection).catch((thrown) => thrown)
  return rejectProviderInput(signIn, idpId, limited ?? rejection)
}

/**
 * The claimed attempt must not be stored again with the other progress. An identity of an earlier attempt is
 * not linked: a sign-in at a provider proves no account for it.
 */
function withoutAttempt(interaction: Interaction): Interaction {
  const { provider: _, pendingLink: __, ...progress } = interaction.progress
  return { ...interaction, progress }
}

async function finishAttempt(signIn: SignInStep, answer: CallbackAnswer): Promise<Response> {
  const { call, authorization } = signIn
  const { ctx } = call
  // Another tab has signed in, or the tenant has switched the method off.
  if (authorization.next.step !== 'login' || !('provider' in listMethodForms(signIn)))
    return redirectToPage(signIn)
  const attempt = await claimAttempt(ctx.db, signIn.interaction, answer.state)
  // One of an earlier attempt: continue with the current page.
  if (!attempt) return redirectToPage(signIn)
  const row = await findProviderRow(ctx.db, getIdpId(call))
  const interaction = withoutAttempt(signIn.interaction)
  let entered: EnteredAccount | null
  try {
    entered = await signInByProvider(ctx, {
      interaction,
      attempt,
      row,
      answer,
      present: authorization.accounts,
      needsSecondFactor: createSecondFactorRule(signIn),
    })
  } catch (error) {
    if (!(error instanceof RejectedIdentity) && !(error instanceof RateLimited)) throw error
    if (error instanceof RejectedIdentity && error.cause)
      log.warn(
        { requestId: ctx.requestId, tenant: ctx.tenant, idpId: attempt.idpId, err: error.cause },
        error.message,
      )
    return rejectProviderInput({ ...signIn, interaction }, attempt.idpId, error)
  }
  return redirectToPage(signIn, 'email', addAccountCookies(signIn, entered))
}
