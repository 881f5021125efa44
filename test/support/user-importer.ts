import { deleteClient } from '../../src/clients/client-changes.ts'
import { createClient } from '../../src/clients/clients.ts'
import { createPlatformCtx } from '../../src/core/context.ts'
import { apiAudienceOf } from '../../src/core/issuer.ts'
import { issueAccessToken } from '../../src/oidc/token/access-tokens.ts'
import { test as base } from './user-transfer.ts'

/** With a caller whose client can be deleted. */
export const test = base.extend('newImporter', ({ tenant }) => async () => {
  const platform = createPlatformCtx(tenant)
  const { client } = await createClient(platform, {
    name: 'Importer',
    appType: 'machine',
    type: 'login',
    scopes: ['users:write'],
  })
  const token = await issueAccessToken(tenant, {
    subject: client.id,
    clientId: client.id,
    scopes: ['users:write'],
    audience: [apiAudienceOf(tenant)],
    lifetimeSeconds: 600,
  })
  return { token, revoke: () => deleteClient(platform, client.id) }
})
