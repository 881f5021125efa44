import { NotFound } from '../../core/errors.ts'
import {
  cancelViewerDeletion,
  findDeletionDays,
  findViewerDeletion,
  requestViewerDeletion,
} from '../account-deletion.ts'
import { requireRecentSignIn } from '../step-up.ts'
import { type AccountPage, renderVisit } from './account-page.http.ts'
import { DeletionPage } from './deletion.pages.tsx'

/** The deletion of the user's own account, where the tenant permits it. A request stays visible in any case. */
export const DELETION_PAGE: AccountPage = {
  path: '/deletion',
  show: async (visit, problem) => {
    const { ctx, notice } = visit
    const [deletion, days] = await Promise.all([findViewerDeletion(ctx), findDeletionDays(ctx)])
    if (!deletion && days === 0 && !notice) throw new NotFound('page')
    // Someone who has only found an open browser gets no further. To keep the account, the session is enough.
    if (!deletion && !notice) await requireRecentSignIn(ctx)
    return renderVisit(visit, problem, DeletionPage, { days, dueAt: deletion?.dueAt ?? null })
  },
  forms: {
    delete: ['deletionRequested', ({ ctx }) => requestViewerDeletion(ctx)],
    keep: ['deletionCanceled', ({ ctx }) => cancelViewerDeletion(ctx)],
  },
}
