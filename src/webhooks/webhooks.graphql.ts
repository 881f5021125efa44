import { beginResult, resolveStart } from '../events/log-subscription.graphql.ts'
import { AFTER_DESCRIPTION } from '../events/subscriptions.graphql.ts'
import { builder } from '../graphql/builder.ts'
import { CURSOR_ARGS, connectionField } from '../graphql/connection.ts'
import type { GraphQLContext } from '../graphql/context.ts'
import { orAdministrator, orAdministratorOfArgument, withScope } from '../graphql/field-access.ts'
import { Loaders } from '../graphql/loaders.ts'
import { Node, registerNode, requireNodeId } from '../graphql/node.graphql.ts'
import { defineObjectType } from '../graphql/shape-fields.ts'
import { encodePosition, type Position } from '../model/event-position.ts'
import { defineResource } from '../operations/resource.ts'
import { encodeIdCursor } from '../schema/page.ts'
import {
  findWebhookDeliveries,
  listWebhookDeliveries,
  toDeliveryListName,
  type WebhookDelivery,
} from './deliveries.ts'
import { followDeliveries, readNewestChange } from './delivery-changes.ts'
import { WebhookDeliveryShape, WebhookShape } from './webhooks.fields.ts'
import { findWebhooks, toWebhookListName, type Webhook } from './webhooks.ts'

// A message has an event.
export const DELIVERY = defineResource<WebhookDelivery>({
  member: 'webhookDelivery',
  members: 'webhookDeliveries',
  words: 'message of a webhook',
  ref: defineObjectType<WebhookDelivery>(WebhookDeliveryShape, {
    ...orAdministrator(
      withScope('events:read', 'A message of a webhook, and what became of it.'),
      ({ webhook }: WebhookDelivery) => webhook.organizationId,
    ),
    interfaces: [Node],
  }),
  scope: 'events:read',
  shape: WebhookDeliveryShape,
  toCursor: ({ tenant }, { webhookId, id }) => encodeIdCursor(toDeliveryListName(tenant, webhookId), id),
})

export const WEBHOOK = defineResource<Webhook>({
  member: 'webhook',
  ref: defineObjectType<Webhook>(
    WebhookShape,
    {
      ...orAdministrator(
        withScope('webhooks:read', 'A receiver of events, at a URL.'),
        ({ organizationId }: Webhook) => organizationId,
      ),
      interfaces: [Node],
    },
    (t) => ({
      deliveries: t.field({
        ...connectionField(DELIVERY.getConnection() as never),
        description: 'Its messages, oldest first. Finished ones are kept for a week.',
        args: CURSOR_ARGS,
        resolve: ({ id }, args, { ctx }) => listWebhookDeliveries(ctx, id, args) as never,
      }),
    }),
  ),
  scope: 'webhooks:read',
  shape: WebhookShape,
  toCursor: ({ tenant }, { id }) => encodeIdCursor(toWebhookListName(tenant), id),
})

registerNode('webhook', {
  ref: WEBHOOK.ref,
  scope: WEBHOOK.scope,
  load: (id, { loaders }) => loaders.over(findWebhooks).load(id),
})
registerNode('delivery', {
  ref: DELIVERY.ref,
  scope: DELIVERY.scope,
  load: (id, { loaders }) => loaders.over(findWebhookDeliveries).load(id),
})

async function* followMessages(
  context: GraphQLContext,
  start: Position,
  wanted: { webhookId: string | null; organizationId: string | null },
): AsyncGenerator<WebhookDelivery> {
  const { signal } = context.stream.stop
  for await (const { position, delivery } of followDeliveries(context.ctx.tenant, start, {
    ...wanted,
    signal,
  })) {
    await beginResult(context, encodePosition(position))
    context.loaders = new Loaders(context.ctx.db)
    yield delivery
  }
}

builder.subscriptionField('webhookDeliveryChanged', (t) =>
  t.field({
    ...orAdministratorOfArgument(
      withScope(
        'events:read',
        'Messages of webhooks that were made, answered or given up, as they are now: several changes of one may be one result.',
      ),
    ),
    type: DELIVERY.ref,
    args: {
      webhookId: t.arg.id({ description: 'Only of this webhook.' }),
      organizationId: t.arg.id({ description: 'Only of the webhooks of this organization.' }),
      after: t.arg.string({ description: AFTER_DESCRIPTION }),
    },
    subscribe: async (_root, { webhookId, organizationId, after }, context) => {
      const wanted = {
        webhookId: webhookId ? requireNodeId('webhook', webhookId, 'webhookId') : null,
        organizationId: organizationId
          ? requireNodeId('organization', organizationId, 'organizationId')
          : null,
      }
      const start = await resolveStart(context, after, () => readNewestChange(context.ctx.db))
      context.stream.position = encodePosition(start)
      return followMessages(context, start, wanted)
    },
    resolve: (delivery) => delivery,
  }),
)
