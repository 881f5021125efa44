import { listApiNames, listDeclaredResources } from '../../access/declared-resources.ts'
import { NotFound } from '../../core/errors.ts'
import { getRequestWords } from '../../languages/request-language.ts'
import { renderComponent } from '../../pages/responses.http.ts'
import { createViewerApiKey, listViewerApiKeys, revokeViewerApiKey } from '../api-keys.ts'
import { type AccountPage, type AccountVisit, renderVisit } from './account-page.http.ts'
import { ApiKeysPage, NewApiKeyPage, readChosenScopes } from './api-keys.pages.tsx'

/** The form offers this many APIs at most. */
const MAX_APIS = 20

/** The names of APIs by their identifiers. */
async function nameApis({ ctx }: AccountVisit, resources: readonly string[]): Promise<Map<string, string>> {
  const { language } = getRequestWords(ctx)
  const names = await Promise.all(resources.map((resource) => listApiNames(ctx.tenant, [resource], language)))
  return new Map(resources.map((resource, index) => [resource, names[index]?.[0] ?? resource]))
}

/** The keys of the user, and what a new one may be for. Where the tenant permits no new keys, those that exist stay visible. */
async function listShownKeys(visit: AccountVisit) {
  const { ctx, call, notice } = visit
  const keys = await listViewerApiKeys(ctx)
  const mayCreate = call.tenant.userApiKeys
  if (!mayCreate && keys.length === 0 && !notice) throw new NotFound('page')
  const declared = mayCreate ? (await listDeclaredResources(ctx.tenant)).slice(0, MAX_APIS) : []
  const names = await nameApis(visit, [
    ...new Set([...declared, ...keys.flatMap(({ resources }) => resources)]),
  ])
  return {
    apiKeys: keys.map(({ scopes, resources, ...key }) => ({
      ...key,
      permits: [...scopes, ...resources.map((resource) => names.get(resource) ?? resource)],
    })),
    offer: mayCreate
      ? {
          scopes: [...ctx.scopes].sort(),
          apis: declared.map((resource) => ({ resource, name: names.get(resource) ?? resource })),
        }
      : null,
  }
}

/** Programs that act in the name of the user. */
export const API_KEYS_PAGE: AccountPage = {
  path: '/api-keys',
  labels: { name: 'label.apiKey' },
  show: async (visit, problem) => renderVisit(visit, problem, ApiKeysPage, await listShownKeys(visit)),
  forms: {
    // The response shows the key, because it is not stored.
    create: async ({ ctx, call }, { name = '', resource = '', ...choices }) => {
      const { key } = await createViewerApiKey(ctx, {
        name,
        resources: resource === '' ? [] : [resource],
        // A key is for the management API or for another one.
        scopes: resource === '' ? readChosenScopes(choices) : [],
      })
      return renderComponent(ctx, NewApiKeyPage, { tenant: call.tenant, apiKey: key })
    },
    revoke: ['keyRevoked', ({ ctx }, { key = '' }) => revokeViewerApiKey(ctx, key)],
  },
}
