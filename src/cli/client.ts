import { deleteClient, rotateClientSecret } from '../clients/client-changes.ts'
import { listClients } from '../clients/client-list.ts'
import { type Client, createClient } from '../clients/clients.ts'
import { collectRows } from '../schema/page.ts'
import {
  confirmDeletion,
  createTenantCtx,
  defineCommandGroup,
  defineDatabaseCommand,
  formatTable,
  splitWords,
  TENANT_ARG,
} from './command.ts'

const toClientOutput = ({ id, name, appType, type, callbacks, scopes, createdAt }: Client) => ({
  id,
  name,
  appType,
  type,
  callbacks,
  scopes,
  createdAt,
})

const createCommand = defineDatabaseCommand({
  name: 'create',
  description: 'Create a client and print its secret, which is shown only once',
  args: {
    tenant: TENANT_ARG,
    name: { type: 'string', required: true, description: 'Name shown to people' },
    'app-type': { type: 'string', required: true, description: 'single-page, web, native or machine' },
    type: { type: 'string', default: 'login', description: 'login or payment' },
    callbacks: { type: 'string', description: 'URLs for authorization responses, separated by commas' },
    scopes: { type: 'string', description: 'Management scopes, and account, separated by commas' },
    'all-tenants': { type: 'boolean', description: 'Its tokens work in every tenant (tenant system only)' },
  },
  run: async (args) => {
    const { client, secret } = await createClient(await createTenantCtx(args.tenant), {
      name: args.name,
      appType: args['app-type'],
      type: args.type,
      callbacks: splitWords(args.callbacks),
      scopes: splitWords(args.scopes),
      ...(args['all-tenants'] && { allTenants: true }),
    })
    const lines = [['id', client.id], ...(secret ? [['secret', secret]] : [])]
    return { text: formatTable(lines), json: { ...toClientOutput(client), secret } }
  },
})

const listCommand = defineDatabaseCommand({
  name: 'list',
  description: 'List the clients of a tenant',
  args: { tenant: TENANT_ARG },
  run: async ({ tenant }) => {
    const ctx = await createTenantCtx(tenant)
    const clients = await collectRows((args) => listClients(ctx, args))
    const rows = clients.map(({ id, appType, name }) => [id, appType, name])
    return { text: formatTable([['ID', 'APP TYPE', 'NAME'], ...rows]), json: clients.map(toClientOutput) }
  },
})

const CLIENT_ID = { type: 'positional', required: true, description: 'Id of the client' } as const

const rotateSecretCommand = defineDatabaseCommand({
  name: 'rotate-secret',
  description: 'Create a new secret and print it; the previous one stays valid for a while',
  args: {
    id: CLIENT_ID,
    tenant: TENANT_ARG,
    'overlap-seconds': {
      type: 'string',
      description: 'How long the previous secret stays valid: 0 to 2592000 seconds, by default one day',
    },
  },
  run: async (args) => {
    const overlap = args['overlap-seconds']
    const { client, secret, previousSecretExpiresAt } = await rotateClientSecret(
      await createTenantCtx(args.tenant),
      args.id,
      overlap === undefined ? {} : { overlapSeconds: overlap === '' ? null : Number(overlap) },
    )
    const lines = [
      ['secret', secret],
      ...(previousSecretExpiresAt
        ? [['previous secret expires', previousSecretExpiresAt.toISOString()]]
        : []),
    ]
    return { text: formatTable(lines), json: { ...toClientOutput(client), secret, previousSecretExpiresAt } }
  },
})

const deleteCommand = defineDatabaseCommand({
  name: 'delete',
  description: 'Delete a client and all its tokens permanently',
  args: {
    id: CLIENT_ID,
    tenant: TENANT_ARG,
    yes: { type: 'boolean', description: 'Do not ask for confirmation' },
  },
  run: async ({ id, tenant, yes }) => {
    const ctx = await createTenantCtx(tenant)
    if (!yes)
      await confirmDeletion(`Client ${id} and all its tokens will be deleted permanently. Type its id`, id)
    return { text: `Deleted client ${id}.`, json: await deleteClient(ctx, id) }
  },
})

export const clientCommand = defineCommandGroup('client', 'Clients of a tenant', {
  create: createCommand,
  list: listCommand,
  'rotate-secret': rotateSecretCommand,
  delete: deleteCommand,
})
