import type { CredentialType } from '../../core/credential-types.ts'
import { findAuthenticatorName } from '../../credentials/authenticator-names.ts'
import { listUserCredentials } from '../../credentials/credentials.ts'
import { redirectTo, renderComponent } from '../../pages/responses.http.ts'
import { createViewerEnrollmentToken, revokeViewerCredential } from '../sign-in-methods.ts'
import type { AccountPage, AccountVisit } from './account-page.http.ts'
import { SignInMethodsPage } from './sign-in-methods.pages.tsx'

/** The page shows this many credentials at most. */
const MAX_SHOWN = 50

const KINDS: Record<CredentialType, string> = {
  'public-key': 'Passkey',
  totp: 'Authenticator app',
  'recovery-codes': 'Recovery codes',
}

async function listShownCredentials({ ctx, user }: AccountVisit) {
  const page = await listUserCredentials(ctx, user.id, { first: MAX_SHOWN })
  const credentials = page.rows.map(({ id, type, aaguid, createdAt, lastUsedAt }) => ({
    id,
    kind: KINDS[type as CredentialType],
    name: findAuthenticatorName(aaguid),
    createdAt,
    lastUsedAt,
  }))
  return { credentials, hasMore: page.hasNextPage }
}

/** Passkeys, the authenticator app and the recovery codes of the user. */
export const SIGN_IN_METHODS_PAGE: AccountPage = {
  path: '/sign-in-methods',
  notices: { removed: 'It is removed. You can no longer sign in with it.' },
  labels: { credentialId: 'This passkey' },
  show: async (visit, problem) =>
    renderComponent(
      SignInMethodsPage,
      {
        tenant: visit.call.tenant,
        form: visit.form,
        timeZone: visit.user.zoneinfo,
        ...(await listShownCredentials(visit)),
        offersPasskey: visit.call.tenant.signInMethods.includes('passkey'),
        notice: visit.notice,
        messages: problem?.messages,
      },
      { status: problem?.status },
    ),
  forms: {
    remove: async ({ ctx }, { credential = '' }) => {
      await revokeViewerCredential(ctx, credential)
      return { done: 'removed' }
    },
    'create-passkey': async ({ ctx }) => {
      const { token } = await createViewerEnrollmentToken(ctx, {})
      return redirectTo(`/${ctx.tenant}/enroll?token=${token}`)
    },
  },
}
