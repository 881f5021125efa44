import type { Call, Gql, Rest } from '../call.ts'
import { objectQuery, PAGE, pageQuery, readGone, readPage, select, unknownId } from '../queries.ts'

const webhook = objectQuery('webhook', 'Webhook', 'ID')
const webhooks = pageQuery('webhooks', 'Webhook', 'webhooks')
const toId = (which: string, webhookId: string): string =>
  which === 'present' ? webhookId : unknownId('webhook')
const toDeliveryId = (which: string, id: string): string => (which === 'present' ? id : unknownId('delivery'))

/** A mutation of a webhook with an input, by POST below its path. */
const post = (
  mutation: string,
  path: string,
  inputs: readonly [string, object][],
  read: Gql['read'],
): Call[] =>
  inputs.map(([which, input]) => ({
    title: `${which} ${JSON.stringify(input)}`,
    rest: ({ webhookId }): Rest => ['POST', `/webhooks/${toId(which, webhookId)}/${path}`, input],
    gql: ({ webhookId }): Gql => ({ mutation, input: { webhookId: toId(which, webhookId), ...input }, read }),
  }))

export const WEBHOOK_OPERATIONS: Record<string, Call[]> = {
  createWebhook: [
    { url: 'ftp://a.example', headers: [{ name: 'Host', value: 'x' }] },
    { url: 'https://a.example', organizationId: unknownId('organization') },
    { url: 'https://a.example', headers: [{ name: 'X-Key', value: '1' }] },
  ].map((input) => ({
    title: Object.keys(input).join(', '),
    rest: (): Rest => ['POST', '/webhooks', input],
    gql: (): Gql => ({
      mutation: 'createWebhook',
      input,
      read: ({ webhook: created, secret }) => ({ ...created, secret }),
    }),
  })),
  listWebhooks: [{}, { pageSize: 0 }].map((page) => ({
    title: JSON.stringify(page),
    rest: (): Rest => ['GET', `/webhooks?${new URLSearchParams(page as Record<string, string>)}`],
    gql: (): Gql => webhooks(page),
  })),
  getWebhook: ['unknown', 'present'].map((which) => ({
    title: which,
    rest: ({ webhookId }): Rest => ['GET', `/webhooks/${toId(which, webhookId)}`],
    gql: ({ webhookId }): Gql => ({ ...webhook, variables: { id: toId(which, webhookId) } }),
  })),
  updateWebhook: (
    [
      ['unknown', {}],
      ['present', { url: 'x' }],
      ['present', { enabled: false, description: 'Shop' }],
    ] as const
  ).map(([which, input]) => ({
    title: `${which} ${JSON.stringify(input)}`,
    rest: ({ webhookId }): Rest => ['PATCH', `/webhooks/${toId(which, webhookId)}`, input],
    gql: ({ webhookId }): Gql => ({
      mutation: 'updateWebhook',
      input: { webhookId: toId(which, webhookId), ...input },
      read: ({ webhook: updated }) => updated,
    }),
  })),
  rotateWebhookSecret: post(
    'rotateWebhookSecret',
    'rotate',
    [
      ['unknown', {}],
      ['present', { overlapSeconds: -1 }],
      ['present', { overlapSeconds: 0 }],
    ],
    ({ webhook: rotated, secret }) => ({ ...rotated, secret }),
  ),
  replayWebhook: post(
    'replayWebhook',
    'replay',
    [
      ['unknown', { after: 'MC4wLjA' }],
      ['present', { after: 'x' }],
      ['present', { after: 'MC4wLjE', until: 'MC4wLjA' }],
      ['present', { after: 'MC4wLjA' }],
    ],
    ({ webhook: replayed }) => replayed,
  ),
  testWebhook: post(
    'testWebhook',
    'test',
    [
      ['unknown', {}],
      ['present', { data: { hello: 'you' } }],
    ],
    ({ webhookDelivery }) => webhookDelivery,
  ),
  redeliverWebhookDeliveries: post(
    'redeliverWebhookDeliveries',
    'deliveries/redeliver',
    [
      ['unknown', {}],
      ['present', {}],
      ['present', { createdBefore: '2026-01-01T00:00:00Z' }],
    ],
    (result) => result,
  ),
  getWebhookDelivery: ['unknown', 'present'].map((which) => ({
    title: which,
    rest: ({ webhookDeliveryId: id }): Rest => ['GET', `/webhook-deliveries/${toDeliveryId(which, id)}`],
    gql: ({ webhookDeliveryId: id }): Gql => ({
      ...objectQuery('webhookDelivery', 'WebhookDelivery', 'ID'),
      variables: { id: toDeliveryId(which, id) },
    }),
  })),
  listWebhookDeliveries: [
    {
      title: 'present',
      rest: ({ webhookId }): Rest => ['GET', `/webhooks/${webhookId}/deliveries`],
      gql: ({ webhookId }): Gql => ({
        query: `query($id: ID!) { webhook(id: $id) { result: deliveries { ${PAGE} nodes ${select('WebhookDelivery')} } } }`,
        variables: { id: webhookId },
        read: ({ webhook: found }) => readPage('webhookDeliveries')({ result: { ...found.result, page: 0 } }),
      }),
    },
  ],
  redeliverWebhookDelivery: ['unknown', 'present'].map((which) => ({
    title: which,
    rest: ({ webhookDeliveryId: id }): Rest => [
      'POST',
      `/webhook-deliveries/${toDeliveryId(which, id)}/redeliver`,
    ],
    gql: ({ webhookDeliveryId: id }): Gql => ({
      mutation: 'redeliverWebhookDelivery',
      input: { webhookDeliveryId: toDeliveryId(which, id) },
      read: ({ webhookDelivery }) => webhookDelivery,
    }),
  })),
  deleteWebhook: ['unknown', 'present'].map((which) => ({
    title: which,
    rest: ({ webhookId }): Rest => ['DELETE', `/webhooks/${toId(which, webhookId)}`],
    gql: ({ webhookId }): Gql => ({
      mutation: 'deleteWebhook',
      input: { webhookId: toId(which, webhookId) },
      read: readGone,
    }),
  })),
}
