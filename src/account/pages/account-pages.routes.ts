import type { H3 } from 'h3'
import { listApiNames } from '../../access/declared-resources.ts'
import { listConsentItems } from '../../consents/consent-items.ts'
import { listUserConsents } from '../../consents/consents.ts'
import { NotFound } from '../../core/errors.ts'
import { findViewerSections } from '../../invitations/own-invitations.ts'
import { localizeClient } from '../../languages/localize-client.ts'
import { getRequestWords } from '../../languages/request-language.ts'
import { addPageRoute, createPlainPage, renderComponent } from '../../pages/responses.http.ts'
import {
  cancelViewerDeletion,
  findDeletionDays,
  findViewerDeletion,
  requestViewerDeletion,
} from '../account-deletion.ts'
import { revokeViewerConsent } from '../consents.ts'
import { collectOwnData } from '../own-data.ts'
import { requireRecentSignIn } from '../step-up.ts'
import { type AccountPage, type AccountVisit, createPageHandlers, renderVisit } from './account-page.http.ts'
import { NotSignedInPage } from './account-shell.pages.tsx'
import { redirectToSignIn } from './account-sign-in.http.ts'
import { ADDRESSES_PAGE } from './addresses.http.ts'
import { API_KEYS_PAGE } from './api-keys.http.ts'
import { AppsPage } from './apps.pages.tsx'
import { DataPage } from './data.pages.tsx'
import { DeletionPage } from './deletion.pages.tsx'
import { ORGANIZATIONS_PAGE } from './organizations.http.ts'
import { OverviewPage } from './overview.pages.tsx'
import { PROFILE_PAGE } from './profile.http.ts'
import { SESSIONS_PAGE } from './sessions.http.ts'
import { AUTHENTICATOR_APP_PAGE, RECOVERY_CODES_PAGE } from './sign-in/authenticator-app.http.ts'
import { SIGN_IN_METHODS_PAGE } from './sign-in/sign-in-methods.http.ts'

/** The page shows this many apps at most. */
const MAX_SHOWN = 50

async function listShownApps({ ctx, user }: AccountVisit) {
  const page = await listUserConsents(ctx, user.id, { first: MAX_SHOWN })
  const { language } = getRequestWords(ctx)
  const apps = await Promise.all(
    page.rows.map(async ({ clientId, client, scopes, claims, resources, createdAt }) => ({
      clientId,
      name: localizeClient(client, language).name,
      clientUri: client.clientUri,
      words: listConsentItems(scopes, claims).map(({ words }) => words),
      apis: await listApiNames(ctx.tenant, resources, language),
      since: createdAt,
    })),
  )
  return { apps, hasMore: page.hasNextPage }
}

/** The apps that the user has consented to. */
const APPS_PAGE: AccountPage = {
  path: '/apps',
  show: async (visit, problem) => renderVisit(visit, problem, AppsPage, await listShownApps(visit)),
  forms: { remove: ['accessRemoved', ({ ctx }, { client = '' }) => revokeViewerConsent(ctx, client)] },
}

/** The deletion of the user's own account, where the tenant permits it. A request stays visible in any case. */
const DELETION_PAGE: AccountPage = {
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
    const [deletion, days, own] = await Promise.all([
      findViewerDeletion(ctx),
      findDeletionDays(ctx),
      findViewerSections(ctx),
    ])
    return renderComponent(ctx, OverviewPage, {
      hasKeys: call.tenant.userApiKeys || own?.hasKeys,
      hasOrganizations: own?.hasOrganizations,
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
  ORGANIZATIONS_PAGE,
  API_KEYS_PAGE,
  DATA_PAGE,
  DELETION_PAGE,
]

/** The pages where users look after their own account. */
export function addAccountPageRoutes(app: H3): void {
  for (const page of PAGES) addPageRoute(app, `/:tenant/account${page.path}`, createPageHandlers(page))
  addPageRoute(app, '/:tenant/account/switch', {
    GET: (call) => redirectToSignIn(call, `/${call.ctx.tenant}/account`, { prompt: ['select_account'] }),
    HEAD: null,
  })
  addPageRoute(app, '/:tenant/account/signed-out', { GET: createPlainPage(NotSignedInPage) })
}
