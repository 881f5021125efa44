import { selectAccountLabel } from '../../../credentials/passkeys/registration.ts'
import { showTotpEnrollment } from '../../../credentials/second-factors/totp-enrollment.ts'
import { renderComponent } from '../../../pages/responses.http.ts'
import { confirmViewerTotp, createViewerRecoveryCodes, createViewerTotp } from '../../second-factors.ts'
import { type AccountPage, type AccountVisit, redirectToNotice, renderVisit } from '../account-page.http.ts'
import {
  AuthenticatorAppPage,
  CreateRecoveryCodesPage,
  NewRecoveryCodesPage,
} from './authenticator-app.pages.tsx'

/** The recovery codes of the user. */
export const RECOVERY_CODES_PAGE: AccountPage = {
  path: '/recovery-codes',
  show: async (visit, problem) => renderVisit(visit, problem, CreateRecoveryCodesPage, {}),
  forms: {
    // The response shows them, because they are not stored: a reload creates others.
    create: async ({ ctx, call }) => {
      const { codes } = await createViewerRecoveryCodes(ctx, { replace: true })
      return renderComponent(ctx, NewRecoveryCodesPage, { tenant: call.tenant, codes })
    },
  },
}

/** The key that the rejected form had, while it is valid; a new one otherwise. */
async function findOrCreateKey({ ctx, user, session }: AccountVisit, token: string | undefined) {
  const owner = { userId: user.id, place: session.id }
  const shown =
    token && (await showTotpEnrollment(ctx, owner, { token, accountName: selectAccountLabel(user) }))
  return shown || createViewerTotp(ctx, {})
}

/** The setup of an authenticator app. */
export const AUTHENTICATOR_APP_PAGE: AccountPage = {
  path: '/authenticator-app',
  needsRecentSignIn: true,
  labels: { token: 'label.page', code: 'label.code' },
  show: async (visit, problem) =>
    renderVisit(
      visit,
      problem,
      AuthenticatorAppPage,
      { enrollment: await findOrCreateKey(visit, problem?.values.token) },
      // Submits a complete code.
      { runsScript: true },
    ),
  forms: {
    confirm: async (visit, { token = '', code = '' }) => {
      await confirmViewerTotp(visit.ctx, { token, code })
      return redirectToNotice(visit, RECOVERY_CODES_PAGE.path, 'app')
    },
  },
}
