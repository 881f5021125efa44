import { ApiKeyShape } from '../api-keys/api-keys.fields.ts'
import { createApiKey, listApiKeys, revokeApiKey } from '../api-keys/api-keys.ts'
import { collectRows } from '../schema/page.ts'
import { createBodyMapper } from '../schema/response-shapes.ts'
import {
  createTenantCtx,
  defineCommandGroup,
  defineDatabaseCommand,
  formatTable,
  splitWords,
  TENANT_ARG,
  withoutUndefined,
} from './command.ts'
import { buildSetArg } from './set-option.ts'

const toKeyOutput = createBodyMapper(ApiKeyShape)

const createCommand = defineDatabaseCommand({
  name: 'create',
  description: 'Create an API key; prints the key, which is shown only once',
  args: {
    name: { type: 'positional', required: true, description: 'Name of the key, such as that of its program' },
    tenant: TENANT_ARG,
    scopes: { type: 'string', description: 'Management scopes, separated by commas' },
    resources: { type: 'string', description: 'APIs that the key is for, separated by commas' },
    'allowed-networks': {
      type: 'string',
      description: 'Networks that it is accepted from, separated by commas',
    },
    'expires-in': { type: 'string', description: 'Lifetime in seconds; by default that of the tenant' },
    ...buildSetArg('key'),
  },
  run: async (args, members) => {
    const expiresIn = args['expires-in']
    const fields = {
      ...members,
      ...withoutUndefined<unknown>({
        name: args.name,
        scopes: splitWords(args.scopes),
        resources: splitWords(args.resources),
        allowedNetworks: splitWords(args['allowed-networks']),
        expiresInSeconds: expiresIn === undefined ? undefined : Number(expiresIn || Number.NaN),
      }),
    }
    const { apiKey, key } = await createApiKey(await createTenantCtx(args.tenant), fields)
    const lines = [
      ['id', apiKey.id],
      ['key', key],
      ['expires', apiKey.expiresAt.toISOString()],
    ]
    return { text: formatTable(lines), json: { ...toKeyOutput(apiKey), key } }
  },
})

const listCommand = defineDatabaseCommand({
  name: 'list',
  description: 'List the API keys of a tenant, without the keys themselves',
  args: { tenant: TENANT_ARG },
  run: async ({ tenant }) => {
    const ctx = await createTenantCtx(tenant)
    const keys = await collectRows((args) => listApiKeys(ctx, args))
    const rows = keys.map(({ id, start, owner, expiresAt, name }) => [
      id,
      start,
      owner,
      expiresAt.toISOString(),
      name,
    ])
    return {
      text: formatTable([['ID', 'START', 'OWNER', 'EXPIRES', 'NAME'], ...rows]),
      json: keys.map(toKeyOutput),
    }
  },
})

const deleteCommand = defineDatabaseCommand({
  name: 'delete',
  description: 'Revoke an API key, which is not accepted from then on',
  args: { id: { type: 'positional', required: true, description: 'Id of the key' }, tenant: TENANT_ARG },
  run: async ({ id, tenant }) => {
    const json = await revokeApiKey(await createTenantCtx(tenant), id)
    return { text: `Revoked API key ${id}.`, json }
  },
})

export const apiKeyCommand = defineCommandGroup('api-key', 'API keys of a tenant', {
  create: createCommand,
  list: listCommand,
  delete: deleteCommand,
})
