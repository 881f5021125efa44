import type { H3 } from 'h3'
import { addRoute } from '../../access/endpoint.http.ts'
import { renderComponent, renderErrorPage } from '../../pages/responses.http.ts'
import { findDeletionDays, findViewerDeletion } from '../account-deletion.ts'
import { collectOwnData } from '../own-data.ts'
import { type AccountPage, createPageHandlers, renderVisit } from './account-page.http.ts'
import { NotSignedInPage } from './account-shell.pages.tsx'
import { redirectToSignIn } from './account-sign-in.http.ts'
import { ADDRESSES_PAGE } from './addresses.http.ts'
import { APPS_PAGE } from './apps.http.ts'
import { DataPage } from './data.pages.tsx'
import { DELETION_PAGE } from './deletion.http.ts'
import { OverviewPage } from './overview.pages.tsx'
import { PROFILE_PAGE } from './profile.http.ts'
import { SESSIONS_PAGE } from './sessions.http.ts'
import { AUTHENTICATOR_APP_PAGE } from './sign-in/authenticator-app.http.ts'
import { RECOVERY_CODES_PAGE } from './sign-in/recovery-codes.http.ts'
import { SIGN_IN_METHODS_PAGE } from './sign-in/sign-in-methods.http.ts'

/** The download of what is stored about the user. */
const DATA_PAGE: AccountPage = {
  path: '/data',
  needsRecentSignIn: true,
  show: async (visit, problem) => renderVisit(visit, problem, DataPage, {}),
  forms: {
    download: async ({ ctx }) =>
      new Response(`${JSON.stringify(await collectOwnData(ctx), null, 2)}\n`, {
        headers: {
          'content-type': 'application/json',
          'content-disposition': `attachment; filename="${ctx.tenant}-account.json"`,
          'cache-control': 'no-store',
          'x-content-type-options': 'nosniff',
        },
      }),
  },
}

const OVERVIEW_PAGE: AccountPage = {
  path: '',
  show: async ({ call, ctx, user, session }) => {
    const [deletion, days] = await Promise.all([findViewerDeletion(ctx), findDeletionDays(ctx)])
    return renderComponent(ctx, OverviewPage, {
      tenant: call.tenant,
      person: session,
      canDelete: days > 0 || deletion !== null,
      deletedAt: deletion?.dueAt ?? null,
      timeZone: user.zoneinfo,
    })
  },
}

const PAGES = [
  OVERVIEW_PAGE,
  PROFILE_PAGE,
  ADDRESSES_PAGE,
  SIGN_IN_METHODS_PAGE,
  AUTHENTICATOR_APP_PAGE,
  RECOVERY_CODES_PAGE,
  SESSIONS_PAGE,
  APPS_PAGE,
  DATA_PAGE,
  DELETION_PAGE,
]

/** The pages where users look after their own account. */
export function addAccountPageRoutes(app: H3): void {
  for (const page of PAGES)
    addRoute(app, `/:tenant/account${page.path}`, createPageHandlers(page), renderErrorPage)
  addRoute(
    app,
    '/:tenant/account/switch',
    {
      GET: (call) => redirectToSignIn(call, `/${call.ctx.tenant}/account`, { prompt: ['select_account'] }),
      HEAD: null,
    },
    renderErrorPage,
  )
  addRoute(
    app,
    '/:tenant/account/signed-out',
    { GET: async ({ ctx, tenant }) => renderComponent(ctx, NotSignedInPage, { tenant }) },
    renderErrorPage,
  )
}
