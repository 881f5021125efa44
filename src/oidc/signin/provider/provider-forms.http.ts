import { cleanTypedEmail } from '../../../core/typed-text.ts'
import { buildAuthorizationUrl, type ProviderWishes } from '../../../idps/provider/provider-authorization.ts'
import { listUpstreamAcrs, type TrustPolicy } from '../../../idps/provider/trusted-authentication.ts'
import {
  findProviderOfDomain,
  findProviderRow,
  type SignInProvider,
} from '../../../idps/sign-in-providers.ts'
import { sealPendingTokens } from '../../../idps/tokens/kept-tokens.ts'
import { getRequestWords } from '../../../languages/request-language.ts'
import type { PageInteraction } from '../../../pages/page-shell.pages.tsx'
import { createPart, type PagePart } from '../../../pages/parts/page-part.pages.tsx'
import { transferToProvider } from '../../../pages/provider-transfer.http.ts'
import { addCookies, redirectTo } from '../../../pages/responses.http.ts'
import { toEmailKey } from '../../../schema/address-keys.ts'
import { selectExpectedAddress, selectMaxAge } from '../../authorize/evaluate-request.ts'
import type { InputRejection } from '../../interactions/progress.ts'
import { satisfiesAcrRequest } from '../../model/acr.ts'
import { describeInputRejection, toAttemptsRejection } from '../step/input-rejection-texts.ts'
import { isOfferable, listOfferedProviders } from '../step/offered-methods.ts'
import { forgetPendingLink, storePendingLink } from '../step/pending-links.ts'
import type { SignInMethod } from '../step/sign-in-method.http.ts'
import { buildProofCookie, redirectToPage, rejectInput } from '../step/sign-in-step.http.ts'
import type { SignInStep } from '../step/sign-in-step.ts'
import { beginAttempt, buildLeftCookie } from './provider-attempt.ts'
import { PendingLinkNote, ProviderEntry } from './provider-entry.pages.tsx'
import { RejectedIdentity, recordRejection, toRejection } from './provider-sign-in.ts'

/** An identity provider, to which the browser is sent. It comes back to callback.routes.ts. */
export const PROVIDER_METHOD: SignInMethod = {
  forms: { provider: goToProvider, 'forget-provider': forgetIdentity },
  firstForm: { step: 'provider', stayRank: 2, hasOwnCheckboxWithoutScript: true },
  ownsRejection: ({ provider }) => provider !== undefined,
  renderNote: renderPendingLink,
  renderEntry: (signIn, { form, rejection, stay }) =>
    createPart(ProviderEntry, {
      interaction: form,
      providers: listOfferedProviders(signIn),
      stay,
      error: rejection && describeInputRejection(getRequestWords(signIn.call.ctx), rejection),
    }),
  leaveFirstPage: (signIn, isOnlyMethod) => {
    const provider = findAutomaticProvider(signIn, isOnlyMethod)
    return provider && redirectToProvider(signIn, provider, { after: 'link' })
  },
  takeForm: async (signIn, { step, address = '' }) => {
    const provider = step === 'email' ? await findProviderByAddress(signIn, address) : null
    return (
      provider && redirectToProvider(signIn, provider, { after: 'form', loginHint: cleanTypedEmail(address) })
    )
  },
}

/** How providers call a user, the most telling first. */
const ACCOUNT_CLAIMS = ['email', 'preferred_username', 'login', 'username', 'name']

/** The note about a proven identity that is not linked; null without one. */
function renderPendingLink({ interaction }: SignInStep, form: PageInteraction): PagePart {
  const { pendingLink } = interaction.progress
  if (!pendingLink) return null
  const { provider, identity } = pendingLink
  const account = ACCOUNT_CLAIMS.map((name) => identity.claims[name]).find((each) => typeof each === 'string')
  return createPart(PendingLinkNote, { interaction: form, provider, account: account?.slice(0, 200) ?? null })
}

/**
 * Another sign-in is demanded, as someone else, or after one that was too weak: the provider must not return its
 * session silently.
 */
function selectWishes({ interaction, authorization }: SignInStep, row: TrustPolicy): ProviderWishes {
  const { request, progress } = interaction
  const isFresh =
    request.prompt.includes('login') ||
    selectMaxAge(request, authorization) !== null ||
    progress.sessionId !== undefined
  const requested = request.claims?.id_token.acr ?? null
  return {
    // Without a request for an `acr`, the provider decides.
    acrValues: requested ? listUpstreamAcrs(row, (acr) => satisfiesAcrRequest(requested, acr)) : [],
    prompt: progress.isAnother ? 'select_account' : isFresh ? 'login' : null,
    loginHint: progress.isAnother
      ? null
      : selectExpectedAddress(request, authorization.signInState, ['email']),
  }
}

/** How the browser leaves: after a form by a page, because form-action applies to redirects. */
type Departure = { after: 'form' | 'link'; loginHint?: string }

/** Sends the browser to a provider; back to the first page when it is not there or does not respond. */
async function redirectToProvider(
  signIn: SignInStep,
  provider: SignInProvider,
  { after, loginHint }: Departure,
): Promise<Response> {
  const { call, interaction, authorization } = signIn
  const { db, tenant } = call.ctx
  const row = await findProviderRow(db, provider.id)
  // It was removed after the page was shown.
  if (!row) return redirectToPage(signIn)
  try {
    const wishes = selectWishes(signIn, row)
    const since = wishes.prompt === 'login' ? new Date() : null
    const values = await beginAttempt(db, interaction, { idpId: row.id, since })
    const url = await buildAuthorizationUrl(row, values, {
      ...wishes,
      loginHint: loginHint ?? wishes.loginHint,
    })
    const cookie = buildLeftCookie(tenant, interaction.handle)
    if (after === 'link') return redirectTo(url, [cookie])
    const page = { tenant: call.tenant, client: authorization.client, provider, url }
    const transfer = transferToProvider(signIn.call.ctx, page, interaction.request.display === 'popup')
    return addCookies(transfer, [cookie])
  } catch (error) {
    const rejection = toRejection(error)
    if (!(rejection instanceof RejectedIdentity)) throw error
    const limited = await recordRejection(call.ctx, interaction, row.id, rejection).catch((each) => each)
    return rejectProviderInput(signIn, row.id, limited ?? rejection)
  }
}

async function goToProvider(signIn: SignInStep, form: Record<string, string>): Promise<Response> {
  const provider = listOfferedProviders(signIn).find(({ id }) => id === form.idp)
  return provider ? redirectToProvider(signIn, provider, { after: 'form' }) : redirectToPage(signIn)
}

/** The user does not want to link the identity that was proven. */
async function forgetIdentity(signIn: SignInStep): Promise<Response> {
  await forgetPendingLink(signIn.call.ctx.db, signIn.interaction)
  return redirectToPage(signIn)
}

const toInputRejection = (error: unknown): Pick<InputRejection, 'reason' | 'retryAt'> =>
  error instanceof RejectedIdentity ? { reason: `provider-${error.shownReason}` } : toAttemptsRejection(error)

/** Leads back to the first page, which says what to do. Rethrows errors of the server. */
export async function rejectProviderInput(
  signIn: SignInStep,
  idpId: string,
  error: unknown,
): Promise<Response> {
  const name = signIn.call.tenant.idps.find(({ id }) => id === idpId)?.name ?? idpId
  if (error instanceof RejectedIdentity && error.identity && error.provenAt) {
    const { identity, provenAt, tokens } = error
    await storePendingLink(signIn.call.ctx.db, signIn.interaction, {
      idpId,
      provider: name,
      identity,
      provenAt: provenAt.toISOString(),
      tokens: tokens && sealPendingTokens(signIn.call.ctx.tenant, idpId, tokens),
    })
    return redirectToPage(signIn, 'email', [buildProofCookie(signIn)])
  }
  return rejectInput(signIn, { page: 'email', provider: name, ...toInputRejection(error) })
}

/** A sign-in leaves without a choice of the user once: a user who comes back can choose another method. */
const canLead = ({ interaction: { progress } }: SignInStep): boolean =>
  !progress.isLed && !progress.isAnother && !progress.pendingLink && !progress.refusal

/**
 * The provider to which the first page leads without being shown: the one that the client named (`idp`), or the
 * only one if there is no other method. Null where the page is shown.
 */
function findAutomaticProvider(signIn: SignInStep, isOnlyMethod: boolean): SignInProvider | null {
  if (!canLead(signIn) || signIn.interaction.progress.address) return null
  const providers = listOfferedProviders(signIn)
  const { idp } = signIn.interaction.request
  const isAlone = isOnlyMethod && providers.length === 1
  return providers.find(({ id }) => id === idp) ?? (isAlone ? (providers[0] ?? null) : null)
}

/**
 * The provider of the domain of an entered address, of the tenant or else of the organization that has proven the domain;
 * null for other addresses, and after a first attempt.
 */
async function findProviderByAddress(signIn: SignInStep, address: string): Promise<SignInProvider | null> {
  const domain = canLead(signIn) ? toEmailKey(cleanTypedEmail(address))?.split('@').pop() : undefined
  if (domain === undefined) return null
  const { ctx, tenant } = signIn.call
  const listed = listOfferedProviders(signIn).find(({ domains }) => domains.includes(domain))
  if (listed) return listed
  const found = await findProviderOfDomain(ctx.db, tenant, domain)
  return found && isOfferable(signIn, found) ? found : null
}
