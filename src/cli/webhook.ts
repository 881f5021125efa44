import { readIdPrefix } from '../core/crypto.ts'
import { collectRows } from '../schema/page.ts'
import { createBodyMapper } from '../schema/response-shapes.ts'
import {
  listWebhookDeliveries,
  redeliverWebhookDeliveries,
  redeliverWebhookDelivery,
  testWebhook,
} from '../webhooks/deliveries.ts'
import { WebhookDeliveryShape, WebhookShape } from '../webhooks/webhooks.fields.ts'
import { createWebhook, deleteWebhook, listWebhooks, updateWebhook } from '../webhooks/webhooks.ts'
import { defineOperationCommand } from './api/operation-command.ts'
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

const toWebhookOutput = createBodyMapper(WebhookShape)
const toDeliveryOutput = createBodyMapper(WebhookDeliveryShape)

const ID_ARG = { type: 'positional', required: true, description: 'Id of the webhook' } as const
const TYPES_ARG = {
  type: 'string',
  description: 'Types of events, separated by commas; by default all',
} as const

const createCommand = defineDatabaseCommand({
  name: 'create',
  description: 'Create a webhook; prints the secret of its signatures, which is shown only once',
  args: {
    url: { type: 'positional', required: true, description: 'URL of the receiver' },
    tenant: TENANT_ARG,
    types: TYPES_ARG,
    ...buildSetArg('webhook'),
  },
  run: async ({ url, tenant, types }, members) => {
    const fields = { ...members, ...withoutUndefined<unknown>({ url, types: splitWords(types) }) }
    const { webhook, secret } = await createWebhook(await createTenantCtx(tenant), fields)
    const lines = [
      ['id', webhook.id],
      ['secret', secret],
    ]
    return { text: formatTable(lines), json: { ...toWebhookOutput(webhook), secret } }
  },
})

const listCommand = defineDatabaseCommand({
  name: 'list',
  description: 'List the webhooks of a tenant and its organizations',
  args: { tenant: TENANT_ARG },
  run: async ({ tenant }) => {
    const ctx = await createTenantCtx(tenant)
    const webhooks = await collectRows((args) => listWebhooks(ctx, args))
    const rows = webhooks.map(({ id, enabled, failingSince, url }) => [
      id,
      enabled ? (failingSince ? 'failing' : 'enabled') : 'disabled',
      url,
    ])
    return { text: formatTable([['ID', 'STATE', 'URL'], ...rows]), json: webhooks.map(toWebhookOutput) }
  },
})

const updateCommand = defineDatabaseCommand({
  name: 'update',
  description: 'Change a webhook; one that is enabled again sends what happened meanwhile',
  args: { id: ID_ARG, tenant: TENANT_ARG, types: TYPES_ARG, ...buildSetArg('webhook') },
  run: async ({ id, tenant, types }, members) => {
    const fields = { ...members, ...withoutUndefined<unknown>({ types: splitWords(types) }) }
    const webhook = await updateWebhook(await createTenantCtx(tenant), id, fields)
    return { text: `Updated webhook ${id}.`, json: toWebhookOutput(webhook) }
  },
})

const deleteCommand = defineDatabaseCommand({
  name: 'delete',
  description: 'Delete a webhook with its messages',
  args: { id: ID_ARG, tenant: TENANT_ARG },
  run: async ({ id, tenant }) => {
    const json = await deleteWebhook(await createTenantCtx(tenant), id)
    return { text: `Deleted webhook ${id}.`, json }
  },
})

const testCommand = defineDatabaseCommand({
  name: 'test',
  description: 'Send a message of the type webhook.test; a server sends it',
  args: { id: ID_ARG, tenant: TENANT_ARG, ...buildSetArg('data of the message') },
  run: async ({ id, tenant }, members) => {
    const input = Object.keys(members).length > 0 ? { data: members } : {}
    const message = await testWebhook(await createTenantCtx(tenant), id, input)
    return { text: `Message ${message.id} waits.`, json: toDeliveryOutput(message) }
  },
})

const deliveriesCommand = defineDatabaseCommand({
  name: 'deliveries',
  description: 'List the newest 100 messages of a webhook, and what its receiver answered',
  args: { id: ID_ARG, tenant: TENANT_ARG },
  run: async ({ id, tenant }) => {
    const ctx = await createTenantCtx(tenant)
    const { rows } = await listWebhookDeliveries(ctx, id, { last: 100 })
    const lines = rows.map(({ id, status, attempts, httpStatus, fault, type }) => [
      id,
      status,
      String(attempts),
      String(httpStatus ?? fault ?? ''),
      type,
    ])
    return {
      text: formatTable([['ID', 'STATUS', 'ATTEMPTS', 'ANSWER', 'TYPE'], ...lines]),
      json: rows.map(toDeliveryOutput),
    }
  },
})

const redeliverCommand = defineDatabaseCommand({
  name: 'redeliver',
  description: 'Send a message again, or those of a webhook that were given up; a server sends them',
  args: {
    id: { type: 'positional', required: true, description: 'Id of the message, or of the webhook' },
    tenant: TENANT_ARG,
    'created-after': { type: 'string', description: 'Of a webhook, only messages from this instant on' },
    'created-before': { type: 'string', description: 'Of a webhook, only messages before this instant' },
  },
  run: async (args) => {
    const ctx = await createTenantCtx(args.tenant)
    const range = withoutUndefined({
      createdAfter: args['created-after'],
      createdBefore: args['created-before'],
    })
    if (readIdPrefix(args.id) !== 'webhook') {
      const message = await redeliverWebhookDelivery(ctx, args.id, range)
      return { text: `Message ${message.id} waits.`, json: toDeliveryOutput(message) }
    }
    const json = await redeliverWebhookDeliveries(ctx, args.id, range)
    const rest = json.isComplete ? '' : ' Others are left.'
    return { text: `${json.redelivered} messages wait.${rest}`, json }
  },
})

export const webhookCommand = defineCommandGroup('webhook', 'Webhooks of a tenant', {
  create: createCommand,
  list: listCommand,
  show: defineOperationCommand('getWebhook', { name: 'show' }),
  update: updateCommand,
  delete: deleteCommand,
  test: testCommand,
  deliveries: deliveriesCommand,
  redeliver: redeliverCommand,
})
