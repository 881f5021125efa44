import { renderComponent } from '../../../pages/responses.http.ts'
import { createViewerRecoveryCodes } from '../../second-factors.ts'
import type { AccountPage } from '../account-page.http.ts'
import { CreateRecoveryCodesPage, NewRecoveryCodesPage } from './recovery-codes.pages.tsx'

/** The recovery codes of the user. */
export const RECOVERY_CODES_PAGE: AccountPage = {
  path: '/recovery-codes',
  notices: { app: 'notice.app' },
  show: async ({ call, form, notice }, problem) =>
    renderComponent(
      call.ctx,
      CreateRecoveryCodesPage,
      { tenant: call.tenant, form, notice, messages: problem?.messages },
      { status: problem?.status },
    ),
  forms: {
    // The response shows them, because they are not stored: a reload creates others.
    create: async ({ ctx, call }) => {
      const { codes } = await createViewerRecoveryCodes(ctx, { replace: true })
      return renderComponent(ctx, NewRecoveryCodesPage, { tenant: call.tenant, codes })
    },
  },
}
