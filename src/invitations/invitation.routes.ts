import type { H3 } from 'h3'
import { findClient } from '../access/client-cache.ts'
import type { TenantCall } from '../access/endpoint.http.ts'
import { sha256Base64url } from '../core/crypto.ts'
import { Forbidden, InvalidInput, UserLocked } from '../core/errors.ts'
import { readQuery } from '../http/request.http.ts'
import { readForm, requireSingleParams } from '../http/request-body.http.ts'
import { getRequestWords } from '../languages/request-language.ts'
import { buildAccountCookies, readSessionTokens } from '../pages/account-cookies.ts'
import { bindBrowser, readBrowserKey } from '../pages/browser-key.ts'
import { createCsrfToken, isCsrfToken } from '../pages/csrf.ts'
import { answerOnce, createSentForm, findAnswer } from '../pages/form-answers.ts'
import { addCookies, addPageRoute, redirectTo, renderComponent } from '../pages/responses.http.ts'
import { buildInitiationUrl, openNextClient, sealNextClient } from '../pages/restart-url.ts'
import { endAccounts, findBrowserAccounts, listSurplusAccounts } from '../sessions/browser-accounts.ts'
import { readAccountForm, toFormIssues } from '../sign-up/account-form.ts'
import { listSignUpFields, readEntries } from '../sign-up/sign-up-fields.ts'
import { selectCookieLifetime } from '../tenants/cookie-lifetime.ts'
import {
  type AcceptableInvitation,
  type AcceptedInvitation,
  acceptInvitation,
  findAcceptableInvitation,
} from './accept-invitation.ts'
import { InvitationAcceptedPage, InvitationExpiredPage, InvitationPage } from './invitation.pages.tsx'

/** The pages of an invitation. */
export function addInvitationRoutes(app: H3): void {
  addPageRoute(app, '/:tenant/invitation', { GET: showInvitation, POST: handleAcceptance })
  addPageRoute(app, '/:tenant/invitation/accepted', { GET: showAccepted })
}

const readToken = ({ event }: TenantCall): string => requireSingleParams(readQuery(event)).token ?? ''
const readCookies = ({ event }: TenantCall): string | null => event.req.headers.get('cookie')

/** The form is bound to the link and to the browser that opened it. */
const toBinding = ({ ctx }: TenantCall, token: string, key: string): string[] => [
  ctx.tenant,
  sha256Base64url(token),
  key,
]

type Entered = { values?: Record<string, string>; issues?: Record<string, string>; error?: string }

function renderInvitation(
  call: TenantCall,
  token: string,
  invitation: AcceptableInvitation,
  { error, ...entered }: Entered = {},
): Response {
  const { tenant, ctx } = call
  const { key, cookie } = bindBrowser(ctx.tenant, readCookies(call))
  const { email, name, inviterName, hasUser } = invitation
  const account = {
    fields: listSignUpFields(tenant),
    terms: tenant,
    ...entered,
    values: entered.values ?? { ...(name !== null && { name }) },
  }
  const response = renderComponent(
    ctx,
    InvitationPage,
    {
      tenant,
      interaction: {
        action: `/${ctx.tenant}/invitation?token=${encodeURIComponent(token)}`,
        csrf: createCsrfToken('invitation', ...toBinding(call, token, key)),
      },
      address: email,
      inviterName,
      account: hasUser ? null : account,
      error,
    },
    { status: entered.issues || error ? 400 : 200 },
  )
  return addCookies(response, [cookie])
}

const renderExpired = ({ ctx, tenant }: TenantCall): Response =>
  renderComponent(ctx, InvitationExpiredPage, { tenant }, { status: 410 })

/** Changes nothing, because mail programs open links to preview them. */
async function showInvitation(call: TenantCall): Promise<Response> {
  const token = readToken(call)
  const invitation = await findAcceptableInvitation(call.ctx, token)
  if (!invitation) return renderExpired(call)
  return renderInvitation(call, token, invitation)
}

async function handleAcceptance(call: TenantCall): Promise<Response> {
  const { event, ctx } = call
  const form = await readForm(event)
  const [token, key] = [readToken(call), readBrowserKey(ctx.tenant, readCookies(call))]
  if (key === null || !isCsrfToken(form.csrf, 'invitation', ...toBinding(call, token, key)))
    throw new Forbidden('This page was out of date. Open the link of the invitation again.')
  const sent = createSentForm(call, ['invitation', sha256Base64url(token)], form, ['ix', 'sid'])
  const invitation = await findAcceptableInvitation(ctx, token)
  // The form may have accepted it.
  if (!invitation) return (await findAnswer(sent)) ?? renderExpired(call)
  return (await answerOnce(sent, () => accept(call, token, invitation, form))).response
}

async function accept(
  call: TenantCall,
  token: string,
  invitation: AcceptableInvitation,
  form: Record<string, string>,
): Promise<Response> {
  const { ctx, tenant } = call
  const fields = listSignUpFields(tenant)
  const values = readEntries(fields, form)
  try {
    // A user who has the address is asked for nothing.
    const account = invitation.hasUser
      ? { fields: {}, terms: null }
      : readAccountForm(tenant, fields, values, form)
    const accepted = await acceptInvitation(ctx, token, invitation, account)
    return accepted ? await continueAfter(call, accepted) : renderExpired(call)
  } catch (error) {
    if (error instanceof InvalidInput)
      return renderInvitation(call, token, invitation, { values, issues: toFormIssues(error) })
    if (error instanceof UserLocked)
      return renderInvitation(call, token, invitation, {
        error: getRequestWords(ctx).text('invitation.locked'),
      })
    throw error
  }
}

/** Leads a new user to the creation of a passkey, and an existing one to the last page. */
async function continueAfter(
  call: TenantCall,
  { userId, clientId, signedIn }: AcceptedInvitation,
): Promise<Response> {
  const { ctx, tenant } = call
  const next = { next_client: sealNextClient(ctx.tenant, clientId) }
  if (!signedIn) return redirectTo(`/${ctx.tenant}/invitation/accepted?${new URLSearchParams(next)}`)
  const header = readCookies(call)
  const accounts = await findBrowserAccounts(ctx.tenant, readSessionTokens(ctx.tenant, header))
  const surplus = listSurplusAccounts(accounts, userId)
  await endAccounts(ctx, surplus)
  const cookies = buildAccountCookies(
    ctx.tenant,
    header,
    { userId, token: signedIn.token },
    accounts.filter((account) => !surplus.includes(account)),
    selectCookieLifetime(tenant),
  )
  const enrollment = new URLSearchParams({ token: signedIn.enrollmentToken, ...next })
  const path = tenant.signInMethods.includes('passkey')
    ? `enroll?${enrollment}`
    : `invitation/accepted?${new URLSearchParams(next)}`
  return redirectTo(`/${ctx.tenant}/${path}`, cookies)
}

async function showAccepted({ event, ctx, tenant }: TenantCall): Promise<Response> {
  const { next_client: next = '' } = requireSingleParams(readQuery(event))
  const clientId = openNextClient(ctx.tenant, next)
  const client = clientId === null ? null : await findClient(ctx.tenant, clientId)
  return renderComponent(ctx, InvitationAcceptedPage, {
    tenant,
    client,
    startAt: buildInitiationUrl(ctx.tenant, client),
  })
}
