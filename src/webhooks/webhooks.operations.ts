import { Conflict, NotFound, RateLimited } from '../core/errors.ts'
import { defineList, defineNestedList } from '../operations/list.ts'
import { defineMutation } from '../operations/mutation.ts'
import { defineLookup } from '../operations/query.ts'
import type { RestRoute } from '../rest/route.ts'
import { idShape } from '../schema/response-shapes.ts'
import {
  getWebhookDelivery,
  listWebhookDeliveries,
  redeliverWebhookDeliveries,
  redeliverWebhookDelivery,
  testWebhook,
} from './deliveries.ts'
import {
  NewWebhookShape,
  WEBHOOK_FILTER,
  WebhookCreate,
  WebhookPatch,
  WebhookRangeRedelivery,
  WebhookRangeRedeliveryShape,
  WebhookRedelivery,
  WebhookReplay,
  WebhookRotation,
  WebhookTest,
} from './webhooks.fields.ts'
import { DELIVERY, WEBHOOK } from './webhooks.graphql.ts'
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  replayWebhook,
  rotateWebhookSecret,
  updateWebhook,
} from './webhooks.ts'

const PATH = '/webhooks/:webhookId'
const NEW_OUTPUT = { webhook: WEBHOOK, secret: NewWebhookShape.shape.secret }

export const webhookOperations: readonly RestRoute[] = [
  ...defineMutation({
    name: 'createWebhook',
    inOrganization: ['url', 'description', 'types', 'payload', 'enabled', 'headers'],
    summary:
      'Creates a webhook: the events of the tenant, or of an organization, are sent to its URL from now on. The response has the secret of the signatures, which is shown only once. Requires scope events:read too.',
    scope: 'webhooks:write',
    isCreation: true,
    input: WebhookCreate,
    errors: [NotFound, Conflict],
    output: NEW_OUTPUT,
    rest: {
      method: 'POST',
      path: '/webhooks',
      status: 201,
      location: ({ id }) => `/webhooks/${id}`,
      response: NewWebhookShape,
      toBody: (ctx, { webhook, secret }) => ({ ...WEBHOOK.toBody(ctx, webhook), secret }),
    },
    run: (ctx, _ids, input) => createWebhook(ctx, input),
  }),
  ...defineList({
    name: 'listWebhooks',
    inOrganization: true,
    summary: 'The webhooks of the tenant and its organizations, oldest first.',
    resource: WEBHOOK,
    filter: WEBHOOK_FILTER,
    path: '/webhooks',
    run: listWebhooks,
  }),
  ...defineLookup({
    name: 'getWebhook',
    inOrganization: true,
    field: 'webhook',
    summary: 'A webhook.',
    resource: WEBHOOK,
    target: 'webhookId',
    path: PATH,
    run: getWebhook,
  }),
  ...defineMutation({
    name: 'updateWebhook',
    inOrganization: ['url', 'description', 'types', 'payload', 'enabled', 'headers'],
    summary:
      'Changes a webhook. One that is enabled again sends what happened meanwhile. Requires scope events:read too.',
    scope: 'webhooks:write',
    targets: ['webhookId'],
    input: WebhookPatch,
    errors: [NotFound],
    output: { webhook: WEBHOOK },
    rest: { method: 'PATCH', path: PATH },
    run: async (ctx, { webhookId }, input) => ({ webhook: await updateWebhook(ctx, webhookId, input) }),
  }),
  ...defineMutation({
    name: 'rotateWebhookSecret',
    inOrganization: ['overlapSeconds'],
    summary:
      'Replaces the secret of a webhook by a new one, which is shown only once. Messages are signed with both for overlapSeconds. Requires scope events:read too.',
    scope: 'webhooks:write',
    isCreation: true,
    targets: ['webhookId'],
    input: WebhookRotation,
    isInputOptional: true,
    errors: [NotFound],
    output: NEW_OUTPUT,
    rest: {
      method: 'POST',
      path: `${PATH}/rotate`,
      response: NewWebhookShape,
      toBody: (ctx, { webhook, secret }) => ({ ...WEBHOOK.toBody(ctx, webhook), secret }),
    },
    run: (ctx, { webhookId }, input) => rotateWebhookSecret(ctx, webhookId, input),
  }),
  ...defineMutation({
    name: 'replayWebhook',
    inOrganization: ['after', 'until'],
    summary:
      'Lets a webhook continue after another position of the event log: it sends the events that follow, again if they were sent before. With `until`, it sends those of the range again, and then continues where it was. Requires scope events:read too.',
    scope: 'webhooks:write',
    targets: ['webhookId'],
    input: WebhookReplay,
    errors: [NotFound, RateLimited],
    output: { webhook: WEBHOOK },
    rest: { method: 'POST', path: `${PATH}/replay` },
    run: async (ctx, { webhookId }, input) => ({ webhook: await replayWebhook(ctx, webhookId, input) }),
  }),
  ...defineMutation({
    name: 'testWebhook',
    inOrganization: ['data'],
    summary: 'Sends a message of the type `webhook.test`. Requires scope events:read too.',
    scope: 'webhooks:write',
    targets: ['webhookId'],
    input: WebhookTest,
    isInputOptional: true,
    errors: [NotFound, Conflict, RateLimited],
    output: { webhookDelivery: DELIVERY },
    rest: { method: 'POST', path: `${PATH}/test` },
    run: async (ctx, { webhookId }, input) => ({
      webhookDelivery: await testWebhook(ctx, webhookId, input),
    }),
  }),
  ...defineMutation({
    name: 'deleteWebhook',
    inOrganization: [],
    summary: 'Deletes a webhook with its messages. Requires scope events:read too.',
    scope: 'webhooks:write',
    targets: ['webhookId'],
    errors: [NotFound],
    output: { deletedWebhookId: idShape.meta({ description: 'Id of the deleted webhook.' }) },
    rest: { method: 'DELETE', path: PATH, message: 'The webhook was deleted.' },
    run: (ctx, { webhookId }) => deleteWebhook(ctx, webhookId),
  }),
  ...defineNestedList({
    name: 'listWebhookDeliveries',
    inOrganization: true,
    summary: 'The messages of a webhook, oldest first. Finished ones are kept for a week.',
    resource: DELIVERY,
    target: 'webhookId',
    path: `${PATH}/deliveries`,
    run: listWebhookDeliveries,
  }),
  ...defineLookup({
    name: 'getWebhookDelivery',
    inOrganization: true,
    field: 'webhookDelivery',
    summary: 'A message of a webhook.',
    resource: DELIVERY,
    target: 'webhookDeliveryId',
    path: '/webhook-deliveries/:webhookDeliveryId',
    run: getWebhookDelivery,
  }),
  ...defineMutation({
    name: 'redeliverWebhookDelivery',
    inOrganization: [],
    summary:
      'Sends a message of a webhook again, with the id that it had. One that waits is sent at once. Requires scope events:read too.',
    scope: 'webhooks:write',
    targets: ['webhookDeliveryId'],
    input: WebhookRedelivery,
    isInputOptional: true,
    errors: [NotFound, RateLimited],
    output: { webhookDelivery: DELIVERY },
    rest: { method: 'POST', path: '/webhook-deliveries/:webhookDeliveryId/redeliver' },
    run: async (ctx, { webhookDeliveryId }, input) => ({
      webhookDelivery: await redeliverWebhookDelivery(ctx, webhookDeliveryId, input),
    }),
  }),
  ...defineMutation({
    name: 'redeliverWebhookDeliveries',
    inOrganization: ['createdAfter', 'createdBefore'],
    summary:
      'Sends messages of a webhook that were given up again, oldest first, with the ids that they had; at most 1,000 wait. Requires scope events:read too.',
    scope: 'webhooks:write',
    targets: ['webhookId'],
    input: WebhookRangeRedelivery,
    isInputOptional: true,
    errors: [NotFound, RateLimited],
    output: WebhookRangeRedeliveryShape.shape,
    rest: {
      method: 'POST',
      path: `${PATH}/deliveries/redeliver`,
      response: WebhookRangeRedeliveryShape,
      toBody: (_ctx, result) => result,
    },
    run: (ctx, { webhookId }, input) => redeliverWebhookDeliveries(ctx, webhookId, input),
  }),
]
