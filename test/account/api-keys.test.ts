import { describe, expect } from 'vitest'
import { createApiKey } from '../../src/api-keys/api-keys.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { setUserRoles } from '../../src/users/roles.ts'
import { createUser } from '../../src/users/users.ts'
import { ownTokenFor } from '../support/actors.ts'
import { test as base } from '../support/fixtures.ts'

const CREATE = `mutation ($input: CreateViewerApiKeyInput!) { result: createViewerApiKey(input: $input) {
  __typename ... on UserError { message } ... on CreateViewerApiKeyPayload { key apiKey { id name owner userId scopes } } } }`
const OWN = '{ viewer { apiKeys { id name start } } }'

/** `test` with users, and operations by their tokens, which have `account` alone. */
const test = base
  .extend('account', { scope: 'file' }, ({ newClient }) => newClient({ scopes: ['account'] }))
  .extend('newUser', { scope: 'file' }, ({ ctx, tenant, account, gql }) => async (roles: string[] = []) => {
    const { id } = await createUser(ctx, { name: 'Ada' })
    if (roles.length > 0) await setUserRoles(createPlatformCtx(tenant), id, { roles })
    const token = await ownTokenFor(tenant, id, account.id)
    const run = async (query: string, variables = {}) => (await gql(query, variables, { token })).body
    return { id, run }
  })

describe('the API keys of the calling user', () => {
  test('are created where the tenant permits it, and are keys of the user', async ({ ctx, newUser, gql }) => {
    const { id, run } = await newUser()
    const input = { name: 'Script' }
    expect((await run(CREATE, { input })).errors?.[0]).toMatchObject({
      message: 'The tenant does not permit users to create API keys.',
    })
    await updateSettings(ctx, { userApiKeys: true })
    const { result } = (await run(CREATE, { input })).data
    expect(result.apiKey).toMatchObject({ name: 'Script', owner: 'USER', userId: id, scopes: [] })
    const viewer = await gql('{ viewer { user { id } scopes } }', {}, { token: result.key })
    expect(viewer.body.data.viewer.scopes).toEqual([])
    expect((await run(OWN)).data.viewer.apiKeys).toEqual([
      { id: result.apiKey.id, name: 'Script', start: result.key.slice(0, 9) },
    ])
    const rotated = await run(
      `mutation ($id: ID!) { result: rotateViewerApiKey(input: { apiKeyId: $id, overlapSeconds: 0 }) {
        ... on RotateViewerApiKeyPayload { key previousExpiresAt } } }`,
      { id: result.apiKey.id },
    )
    expect(rotated.data.result).toEqual({ key: expect.stringMatching(/^vstb_/), previousExpiresAt: null })
    expect((await gql(OWN, {}, { token: result.key })).status).toBe(401)
  })

  test('permit no application without the scopes of the roles to get them', async ({ ctx, newUser }) => {
    await updateSettings(ctx, { userApiKeys: true })
    const { run } = await newUser(['support'])
    for (const scopes of [[], ['users:read']]) {
      const { errors } = await run(CREATE, { input: { name: 'Script', scopes } })
      expect(errors?.[0]).toMatchObject({ message: expect.stringContaining('scopes that the caller lacks') })
    }
  })

  test('are not those of others', async ({ ctx, newUser }) => {
    const { id } = await newUser()
    const { apiKey } = await createApiKey(ctx, { name: 'Other', userId: id })
    const { apiKey: ofTenant } = await createApiKey(ctx, { name: 'Tenant' })
    const { run } = await newUser()
    for (const apiKeyId of [apiKey.id, ofTenant.id])
      for (const name of ['rotateViewerApiKey', 'revokeViewerApiKey']) {
        const query = `mutation ($apiKeyId: ID!) { result: ${name}(input: { apiKeyId: $apiKeyId }) { __typename } }`
        expect((await run(query, { apiKeyId })).data.result).toEqual({ __typename: 'NotFoundError' })
      }
    expect((await run(OWN)).data.viewer.apiKeys).toEqual([])
  })
})
