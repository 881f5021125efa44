import { listUserCredentials } from '../../../credentials/credentials.ts'
import { findAuthenticatorName } from '../../../credentials/passkeys/authenticator-names.ts'
import { type IdpUser, listIdpUsers } from '../../../idps/idp-users.ts'
import type { CredentialType } from '../../../model/credential-types.ts'
import { createPart, type PagePart } from '../../../pages/parts/page-part.pages.tsx'
import { redirectTo } from '../../../pages/responses.http.ts'
import {
  createViewerEnrollmentToken,
  revokeViewerCredential,
  unlinkViewerIdpUser,
} from '../../sign-in-methods.ts'
import { type AccountPage, type AccountVisit, renderVisit } from '../account-page.http.ts'
import type { PageProblem } from '../page-problem.ts'
import { listConnectableProviders, receiveConnection, redirectToConnection } from './connect-identity.http.ts'
import {
  AuthenticatorAppPart,
  CredentialsPart,
  IdentitiesPart,
  PasskeyCreationPart,
  type ShownIdentity,
  SignInMethodsPage,
} from './sign-in-methods.pages.tsx'

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

/** What users sign in with and change on this page: its part, and its forms. */
type MethodEntry = Pick<AccountPage, 'forms' | 'labels'> & {
  /** Null where the tenant does not have it. */
  renderPart: (visit: AccountVisit) => Promise<PagePart> | PagePart
}

const CREDENTIALS: MethodEntry = {
  renderPart: async (visit) =>
    createPart(CredentialsPart, { ...toPartProps(visit), ...(await listShownCredentials(visit)) }),
  labels: { credentialId: 'label.thisMethod' },
  forms: { remove: ['removed', ({ ctx }, { credential = '' }) => revokeViewerCredential(ctx, credential)] },
}

const IDENTITIES: MethodEntry = {
  renderPart: async (visit) => {
    const identities = await listShownIdentities(visit)
    const linked = new Set(identities.map(({ idpId }) => idpId))
    const providers = listConnectableProviders(visit).filter(({ id }) => !linked.has(id))
    return createPart(IdentitiesPart, { ...toPartProps(visit), identities, providers })
  },
  labels: { idpId: 'label.thisAccount' },
  forms: {
    unlink: ['unlinked', ({ ctx }, { idp = '' }) => unlinkViewerIdpUser(ctx, idp)],
    connect: (visit, { idp = '' }) => redirectToConnection(visit, idp, (found) => showMethods(visit, found)),
  },
}

const PASSKEY_CREATION: MethodEntry = {
  renderPart: ({ call, form }) =>
    call.tenant.signInMethods.includes('passkey') ? createPart(PasskeyCreationPart, { form }) : null,
  forms: {
    'create-passkey': async ({ ctx }) => {
      const { token } = await createViewerEnrollmentToken(ctx, {})
      return redirectTo(`/${ctx.tenant}/enroll?token=${token}&next=account`)
    },
  },
}

/** Where the tenant asks for a second factor, or users may want one. */
const AUTHENTICATOR_APP: MethodEntry = {
  renderPart: ({ call: { tenant }, user }) =>
    tenant.secondFactor !== 'off' || tenant.secondFactorRoles.length > 0
      ? createPart(AuthenticatorAppPart, { tenantId: tenant.tenantId, hasApp: user.hasSecondFactor })
      : null,
}

/** The entries in the order of the page. */
const ENTRIES: readonly MethodEntry[] = [CREDENTIALS, IDENTITIES, PASSKEY_CREATION, AUTHENTICATOR_APP]

const mergeEntries = <Member extends 'forms' | 'labels'>(member: Member): MethodEntry[Member] =>
  Object.assign({}, ...ENTRIES.map((entry) => entry[member]))

const toPartProps = ({ form, user }: AccountVisit) => ({ form, timeZone: user.zoneinfo })

const showMethods = async (visit: AccountVisit, problem: PageProblem | null): Promise<Response> =>
  renderVisit(visit, problem, SignInMethodsPage, {
    parts: await Promise.all(ENTRIES.map(({ renderPart }) => renderPart(visit))),
    acceptsCodes: visit.call.tenant.signInMethods.includes('passcode'),
  })

/** Passkeys, the authenticator app, the recovery codes and the accounts elsewhere of the user. */
export const SIGN_IN_METHODS_PAGE: AccountPage = {
  path: '/sign-in-methods',
  labels: mergeEntries('labels'),
  show: async (visit, problem) =>
    (!problem && (await receiveConnection(visit, (found) => showMethods(visit, found)))) ||
    showMethods(visit, problem),
  forms: mergeEntries('forms'),
}
