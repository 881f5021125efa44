import { NotFound } from '../../core/errors.ts'
import { renderComponent } from '../../pages/responses.http.ts'
import {
  cancelViewerDeletion,
  findDeletionDays,
  findViewerDeletion,
  requestViewerDeletion,
} from '../account-deletion.ts'
import { requireRecentSignIn } from '../step-up.ts'
import type { AccountPage } from './account-page.http.ts'
import { DeletionPage } from './deletion.pages.tsx'

/** The deletion of the user's own account, where the tenant permits it. A request stays visible in any case. */
export const DELETION_PAGE: AccountPage = {
  path: '/deletion',
  notices: { requested: 'notice.deletionRequested', canceled: 'notice.deletionCanceled' },
  show: async ({ call, ctx, user, form, notice }) => {
    const [deletion, days] = await Promise.all([findViewerDeletion(ctx), findDeletionDays(ctx)])
    if (!deletion && days === 0 && !notice) throw new NotFound('page')
    // Someone who has only found an open browser gets no further. To keep the account, the session is enough.
    if (!deletion && !notice) await requireRecentSignIn(ctx)
    return renderComponent(ctx, DeletionPage, {
      tenant: call.tenant,
      form,
      days,
      dueAt: deletion?.dueAt ?? null,
      timeZone: user.zoneinfo,
      notice,
    })
  },
  forms: {
    delete: async ({ ctx }) => {
      await requestViewerDeletion(ctx)
      return { done: 'requested' }
    },
    keep: async ({ ctx }) => {
      await cancelViewerDeletion(ctx)
      return { done: 'canceled' }
    },
  },
}
