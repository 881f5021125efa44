import { renderComponent } from '../../../pages/responses.http.ts'
import { createViewerRecoveryCodes } from '../../second-factors.ts'
import { type AccountPage, renderVisit } from '../account-page.http.ts'
import { CreateRecoveryCodesPage, NewRecoveryCodesPage } from './recovery-codes.pages.tsx'

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
