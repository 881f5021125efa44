import { listApiNames } from '../../access/declared-resources.ts'
import { listConsentItems } from '../../consents/consent-items.ts'
import { listUserConsents } from '../../consents/consents.ts'
import { localizeClient } from '../../languages/localize-client.ts'
import { getRequestWords } from '../../languages/request-language.ts'
import { revokeViewerConsent } from '../consents.ts'
import { type AccountPage, type AccountVisit, renderVisit } from './account-page.http.ts'
import { AppsPage } from './apps.pages.tsx'

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
export const APPS_PAGE: AccountPage = {
  path: '/apps',
  show: async (visit, problem) => renderVisit(visit, problem, AppsPage, await listShownApps(visit)),
  forms: { remove: ['accessRemoved', ({ ctx }, { client = '' }) => revokeViewerConsent(ctx, client)] },
}
