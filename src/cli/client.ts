import { deleteClient, updateClient } from '../clients/client-changes.ts'
import { listClients } from '../clients/client-list.ts'
import { rotateClientSecret } from '../clients/client-secrets.ts'
import { ClientShape } from '../clients/clients.fields.ts'
import { createClient, getClient } from '../clients/clients.ts'
import { InvalidInput } from '../core/errors.ts'
import { issuerOf } from '../core/issuer.ts'
import { collectRows } from '../schema/page.ts'
import { createBodyMapper } from '../schema/response-shapes.ts'
import { CLIENT_TEMPLATES, describeNextStep, TEMPLATE_NAMES, type TemplateName } from './client-templates.ts'
import {
  confirmDeletion,
  createTenantCtx,
  defineCommandGroup,
  defineDatabaseCommand,
  formatMembers,
  formatTable,
  splitWords,
  TENANT_ARG,
  withoutUndefined,
} from './command.ts'
import { buildSetArg } from './set-option.ts'

const toClientOutput = createBodyMapper(ClientShape)

const CALLBACKS_HINT = 'is required, such as https://app.example.com/callback'

/** The template of a new client; undefined when its app type is given. Throws InvalidInput. */
function readTemplate(template: string | undefined, appType: unknown): TemplateName | undefined {
  if (template === undefined && appType !== undefined) return undefined
  const found = TEMPLATE_NAMES.find((name) => name === template)
  if (found) return found
  throw new InvalidInput(
    [
      {
        field: 'template',
        description: `${template === undefined ? 'is required' : 'must be one'}: ${TEMPLATE_NAMES.join(', ')}`,
      },
    ],
    'The command is not valid.',
  )
}

const createCommand = defineDatabaseCommand({
  name: 'create',
  description: 'Create a client; prints its secret, which is shown only once, and the next step',
  args: {
    tenant: TENANT_ARG,
    template: { type: 'string', description: `The kind of application: ${TEMPLATE_NAMES.join(', ')}` },
    name: { type: 'string', description: 'Name shown to people; by default that of the template' },
    'app-type': { type: 'string', description: 'single-page, web, native or machine; instead of --template' },
    type: { type: 'string', default: 'login', description: 'login or payment' },
    callbacks: { type: 'string', description: 'URLs for authorization responses, separated by commas' },
    scopes: { type: 'string', description: 'Management scopes, and account, separated by commas' },
    'all-tenants': { type: 'boolean', description: 'Its tokens work in every tenant (tenant system only)' },
    ...buildSetArg('client'),
  },
  run: async (args, members) => {
    const template = readTemplate(args.template, args['app-type'] ?? members.appType)
    const fields = {
      type: args.type,
      ...(template && { name: CLIENT_TEMPLATES[template].name, ...CLIENT_TEMPLATES[template].fields }),
      ...members,
      ...withoutUndefined({
        name: args.name,
        appType: args['app-type'],
        callbacks: splitWords(args.callbacks),
        scopes: splitWords(args.scopes),
      }),
      ...(args['all-tenants'] && { allTenants: true }),
    }
    if (template && ['spa', 'web', 'fapi2'].includes(template) && !('callbacks' in fields))
      throw new InvalidInput(
        [{ field: 'callbacks', description: CALLBACKS_HINT }],
        'The command is not valid.',
      )
    const ctx = await createTenantCtx(args.tenant)
    const { client, secret } = await createClient(ctx, fields)
    const issuer = issuerOf(ctx.tenant)
    const lines = [['issuer', issuer], ['id', client.id], ...(secret ? [['secret', secret]] : [])]
    return {
      text: `${formatTable(lines)}\n\nNext:\n${describeNextStep(ctx.tenant, client, secret, template)}`,
      json: { ...toClientOutput(client), secret, issuer },
    }
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

const showCommand = defineDatabaseCommand({
  name: 'show',
  description: 'Show a client, without its secret',
  args: { id: CLIENT_ID, tenant: TENANT_ARG },
  run: async ({ id, tenant }) => {
    const client = toClientOutput(await getClient(await createTenantCtx(tenant), id))
    return { text: formatMembers(client), json: client }
  },
})

const updateCommand = defineDatabaseCommand({
  name: 'update',
  description: 'Change a client',
  args: { id: CLIENT_ID, tenant: TENANT_ARG, ...buildSetArg('client') },
  run: async ({ id, tenant }, members) => {
    const client = toClientOutput(await updateClient(await createTenantCtx(tenant), id, members))
    return { text: formatMembers(client), json: client }
  },
})

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
  show: showCommand,
  update: updateCommand,
  'rotate-secret': rotateSecretCommand,
  delete: deleteCommand,
})
