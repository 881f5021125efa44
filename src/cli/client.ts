import { deleteClient, rotateClientSecret } from '../clients/client-changes.ts'
import { listClients } from '../clients/client-list.ts'
import { type Client, createClient } from '../clients/clients.ts'
import { MAX_PAGE_SIZE } from '../page.ts'
import {
  commandGroup,
  confirmDeletion,
  databaseCommand,
  TENANT,
  tenantCtx,
  toTable,
  wordsOf,
} from './command.ts'

const toBody = ({ id, name, appType, type, callbacks, scopes, createdAt }: Client) => ({
  id,
  name,
  appType,
  type,
  callbacks,
  scopes,
  createdAt,
})

const create = databaseCommand({
  name: 'create',
  description: 'Create a client; prints its secret, which is told nowhere else',
  args: {
    tenant: TENANT,
    name: { type: 'string', required: true, description: 'Name shown to people' },
    'app-type': { type: 'string', required: true, description: 'single-page, web, native or machine' },
    type: { type: 'string', default: 'login', description: 'login or payment' },
    callbacks: { type: 'string', description: 'URLs for authorization responses, separated by commas' },
    scopes: { type: 'string', description: 'Management scopes, separated by commas' },
    'all-tenants': { type: 'boolean', description: 'Its tokens work in every tenant (tenant system only)' },
  },
  run: async (args) => {
    const { client, secret } = await createClient(await tenantCtx(args.tenant), {
      name: args.name,
      appType: args['app-type'],
      type: args.type,
      callbacks: wordsOf(args.callbacks),
      scopes: wordsOf(args.scopes),
      ...(args['all-tenants'] && { allTenants: true }),
    })
    const lines = [['id', client.id], ...(secret ? [['secret', secret]] : [])]
    return { text: toTable(lines), json: { ...toBody(client), secret } }
  },
})

const list = databaseCommand({
  name: 'list',
  description: 'List the clients of a tenant',
  args: { tenant: TENANT },
  run: async ({ tenant }) => {
    const ctx = await tenantCtx(tenant)
    const clients: Client[] = []
    for (let page = 0, more = true; more; page++) {
      const read = await listClients(ctx, { page, pageSize: MAX_PAGE_SIZE })
      clients.push(...read.rows)
      more = read.hasNextPage
    }
    const rows = clients.map(({ id, appType, name }) => [id, appType, name])
    return { text: toTable([['ID', 'APP TYPE', 'NAME'], ...rows]), json: clients.map(toBody) }
  },
})

const ID = { type: 'positional', required: true, description: 'Id of the client' } as const

const rotateSecret = databaseCommand({
  name: 'rotate-secret',
  description: 'Make a new secret and print it; the one before lives on for a while',
  args: {
    id: ID,
    tenant: TENANT,
    'overlap-seconds': { type: 'string', description: 'How long that is: 0 to 2592000, a day unless told' },
  },
  run: async (args) => {
    const overlap = args['overlap-seconds']
    const { client, secret, previousSecretExpiresAt } = await rotateClientSecret(
      await tenantCtx(args.tenant),
      args.id,
      overlap === undefined ? {} : { overlapSeconds: overlap === '' ? null : Number(overlap) },
    )
    const lines = [
      ['secret', secret],
      ...(previousSecretExpiresAt ? [['the one before ends', previousSecretExpiresAt.toISOString()]] : []),
    ]
    return { text: toTable(lines), json: { ...toBody(client), secret, previousSecretExpiresAt } }
  },
})

const remove = databaseCommand({
  name: 'delete',
  description: 'Delete a client with all its tokens, for ever',
  args: { id: ID, tenant: TENANT, yes: { type: 'boolean', description: 'Do not ask' } },
  run: async ({ id, tenant, yes }) => {
    const ctx = await tenantCtx(tenant)
    if (!yes) await confirmDeletion(`Client ${id} and all its tokens will be gone for ever. Type its id`, id)
    return { text: `Deleted client ${id}.`, json: await deleteClient(ctx, id) }
  },
})

export const clientCommand = commandGroup('client', 'Clients of a tenant', {
  create,
  list,
  'rotate-secret': rotateSecret,
  delete: remove,
})
