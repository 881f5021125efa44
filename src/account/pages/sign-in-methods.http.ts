import type { CachedTenant } from '../../access/tenant-cache.ts'
import type { CredentialType } from '../../core/credential-types.ts'
import { findAuthenticatorName } from '../../credentials/authenticator-names.ts'
import { listUserCredentials } from '../../credentials/credentials.ts'
import { type IdpUser, listIdpUsers } from '../../idps/idp-users.ts'
import { redirectTo, renderComponent } from '../../pages/responses.http.ts'
import {
  createViewerEnrollmentToken,
  revokeViewerCredential,
  unlinkViewerIdpUser,
} from '../sign-in-methods.ts'
import type { AccountPage, AccountVisit } from './account-page.http.ts'
import { leadToConnection, listConnectableProviders, receiveConnection } from './connect-identity.http.ts'
import type { PageProblem } from './page-problem.ts'
import { type ShownIdentity, SignInMethodsPage } from './sign-in-methods.pages.tsx'

/** The page shows this many credentials at most. */
const MAX_SHOWN = 50

async function listShownCredentials({ ctx, user }: AccountVisit) {
  const page = await listUserCredentials(ctx, user.id, { first: MAX_SHOWN })
  const credentials = page.rows.map(({ id, type, aaguid, createdAt, lastUsedAt }) => ({
    id,
    type: type as CredentialType,
    name: findAuthenticatorName(aaguid),
    createdAt,
    lastUsedAt,
  }))
  return { credentials, hasMore: page.hasNextPage }
}

/** The name of the account at a provider, as its claims say. */
function describeAccount({ metadata }: IdpUser): string | null {
  const { email, preferred_username: username, name } = (metadata ?? {}) as Record<string, unknown>
  const known = [email, username, name].find((value) => typeof value === 'string' && value !== '')
  return (known as string | undefined)?.slice(0, 200) ?? null
}

async function listShownIdentities({ ctx, call, user }: AccountVisit): Promise<ShownIdentity[]> {
  const page = await listIdpUsers(ctx, user.id, { first: MAX_SHOWN })
  const names = new Map(call.tenant.idps.map(({ id, name }) => [id, name]))
  return page.rows.map((link) => ({
    idpId: link.idpId,
    provider: names.get(link.idpId) ?? link.idpId,
    account: describeAccount(link),
    linkedAt: link.createdAt,
  }))
}

/** What the user may add: a second factor where the tenant asks for one, or users may want one. */
const selectOffers = ({ signInMethods, secondFactor, secondFactorRoles }: CachedTenant) => ({
  code: signInMethods.includes('passcode'),
  passkey: signInMethods.includes('passkey'),
  app: secondFactor !== 'off' || secondFactorRoles.length > 0,
})

async function showMethods(visit: AccountVisit, problem: PageProblem | null): Promise<Response> {
  const identities = await listShownIdentities(visit)
  const linked = new Set(identities.map(({ idpId }) => idpId))
  return renderComponent(
    visit.ctx,
    SignInMethodsPage,
    {
      tenant: visit.call.tenant,
      form: visit.form,
      timeZone: visit.user.zoneinfo,
      ...(await listShownCredentials(visit)),
      identities,
      providers: listConnectableProviders(visit).filter(({ id }) => !linked.has(id)),
      offers: selectOffers(visit.call.tenant),
      notice: visit.notice,
      messages: problem?.messages,
    },
    { status: problem?.status },
  )
}

/** Passkeys, the authenticator app, the recovery codes and the accounts elsewhere of the user. */
export const SIGN_IN_METHODS_PAGE: AccountPage = {
  path: '/sign-in-methods',
  notices: { removed: 'notice.removed', unlinked: 'notice.unlinked', connected: 'notice.connected' },
  labels: { credentialId: 'label.thisMethod', idpId: 'label.thisAccount' },
  show: async (visit, problem) =>
    (!problem && (await receiveConnection(visit, (found) => showMethods(visit, found)))) ||
    showMethods(visit, problem),
  forms: {
    remove: async ({ ctx }, { credential = '' }) => {
      await revokeViewerCredential(ctx, credential)
      return { done: 'removed' }
    },
    unlink: async ({ ctx }, { idp = '' }) => {
      await unlinkViewerIdpUser(ctx, idp)
      return { done: 'unlinked' }
    },
    connect: (visit, { idp = '' }) => leadToConnection(visit, idp, (found) => showMethods(visit, found)),
    'create-passkey': async ({ ctx }) => {
      const { token } = await createViewerEnrollmentToken(ctx, {})
      return redirectTo(`/${ctx.tenant}/enroll?token=${token}&next=account`)
    },
  },
}
