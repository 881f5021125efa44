import * as z from 'zod'
import { readIdPrefix } from '../core/crypto.ts'
import { EVENT_TYPE } from '../events/list.fields.ts'
import { decodePosition } from '../model/event-position.ts'
import { defineEnum } from '../schema/enums.ts'
import { createFetchedUrl } from '../schema/fetched-url.fields.ts'
import {
  enumField,
  flagField,
  listExamples,
  listField,
  mapShapes,
  requiredField,
  textField,
} from '../schema/fields.ts'
import { toAnswerText } from '../schema/formats.ts'
import { instant, integer, requiredText, text } from '../schema/input-shapes.ts'
import { defineFilter } from '../schema/lists.ts'
import {
  asId,
  createIdPattern,
  createIdShape,
  instantShape,
  jsonObjectShape,
} from '../schema/response-shapes.ts'

const PAYLOAD = defineEnum('WebhookPayload', 'The contents of a message.', {
  full: 'The event, with the members of `GET /events`.',
  thin: 'The ids of the event, of its organization and of its subjects.',
})

const url = createFetchedUrl({ secure: true })

/** The fields that callers write and read. Columns of the same names store them. */
const FIELDS = {
  url: requiredField(url, toAnswerText(url), 'https://shop.example/webhooks'),
  description: textField(text(500), 'Orders'),
  types: listField(EVENT_TYPE.shape, { max: 200, example: ['user.created', 'user.deleted'] }),
  payload: enumField(PAYLOAD, 'full', 'full'),
  enabled: flagField(true),
}
export const WEBHOOK_FIELD_NAMES = Object.keys(FIELDS) as (keyof typeof FIELDS)[]
const META = { model: 'Webhook', samples: listExamples(FIELDS) }

/** Headers that HTTP, the connection or the signature define. */
const RESERVED_HEADER =
  /^(host|connection|content-.*|transfer-encoding|te|trailer|upgrade|keep-alive|expect|user-agent|proxy-.*|webhook-.*)$/i
const MAX_HEADERS = 10

const header = z
  .strictObject(
    {
      name: requiredText(100)
        .regex(/^[\w!#$%&'*+.^`|~-]+$/, 'must be a field name of HTTP')
        .refine((name) => !RESERVED_HEADER.test(name), 'is set by the server')
        .meta({ description: 'Name of the header.', example: 'Authorization' }),
      value: requiredText(1000)
        .regex(/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/, 'must be printable ASCII')
        .meta({ description: 'Value of the header.', example: 'Bearer 6f1a' }),
    },
    { error: (issue) => (issue.code === 'invalid_type' ? 'must be an object' : undefined) },
  )
  .meta({
    id: 'WebhookHeaderInput',
    description: 'A header of the messages.',
    example: { name: 'Authorization', value: 'Bearer 6f1a' },
  })

const headers = z
  .array(header, 'must be an array')
  .max(MAX_HEADERS, `must have at most ${MAX_HEADERS} entries`)
  .superRefine((entries, context) => {
    const names = entries.map(({ name }) => name.toLowerCase())
    for (const [index, name] of names.entries())
      if (names.indexOf(name) < index)
        context.addIssue({ code: 'custom', path: [index, 'name'], message: 'is given twice' })
  })
  .nullish()
  .meta({
    description: 'Headers that each message has besides. Responses have their names only.',
    example: [{ name: 'Authorization', value: 'Bearer 6f1a' }],
  })
export type WebhookHeader = z.output<typeof header>

const organizationId = asId(
  text(200).refine(
    (id) => readIdPrefix(id) === 'organization',
    'is not an id that starts with organization_',
  ),
).meta({ pattern: createIdPattern('organization'), example: 'organization_01k7r3m8wxe4gbr5v2c9t6hznq' })

/** Input of createWebhook. */
export const WebhookCreate = z
  .strictObject(
    { ...mapShapes(FIELDS, 'creation'), headers, organizationId: organizationId.nullish() },
    'must be an object',
  )
  .meta({ id: 'WebhookCreate', ...META })

/** Input of updateWebhook. */
export const WebhookPatch = z
  .strictObject({ ...mapShapes(FIELDS, 'change'), headers }, 'must be an object')
  .meta({ id: 'WebhookPatch', model: 'Webhook', example: { types: ['user.created'], enabled: true } })

const isPosition = (text: string): boolean => {
  try {
    return decodePosition(text) !== null
  } catch {
    return false
  }
}

const MAX_OVERLAP_SECONDS = 2_592_000
const DEFAULT_OVERLAP_SECONDS = 86_400

/** Input of rotateWebhookSecret. */
export const WebhookRotation = z
  .strictObject(
    {
      overlapSeconds: integer(0, MAX_OVERLAP_SECONDS)
        .nullish()
        .transform((value) => value ?? DEFAULT_OVERLAP_SECONDS)
        .meta({
          description: `How long messages are signed with the current secret too, 0 to ${MAX_OVERLAP_SECONDS} seconds; one day by default.`,
          example: 3600,
        }),
    },
    'must be an object',
  )
  .meta({ id: 'WebhookRotation', description: 'How the secret is replaced.' })

const position = requiredText(100)
  .refine(isPosition, 'is not a position of the event log')
  .meta({ format: 'event-position', example: 'MS43NDIuMQ' })

/** Input of replayWebhook. */
export const WebhookReplay = z
  .strictObject(
    {
      after: position.meta({
        description: 'Position of an event: those after it are sent, again if they were sent before.',
      }),
      until: position.nullish().meta({
        description:
          'Position of the last event that is sent again; then the webhook continues where it was. Omitted: it sends all events that follow.',
      }),
    },
    'must be an object',
  )
  .meta({ id: 'WebhookReplay', description: 'Where a webhook continues.' })

const MAX_TEST_BYTES = 20_000

/** Input of testWebhook. */
export const WebhookTest = z
  .strictObject(
    {
      data: z
        .record(z.string(), z.unknown(), 'must be an object')
        .refine(
          (data) => Buffer.byteLength(JSON.stringify(data)) <= MAX_TEST_BYTES,
          'must have at most 20 KB',
        )
        .nullish()
        .meta({
          description: 'The member `data` of the message; a greeting by default.',
          example: { hello: 'world' },
        }),
    },
    'must be an object',
  )
  .meta({ id: 'WebhookTest', description: 'A message for a test.' })

/** Input of redeliverWebhookDelivery. */
export const WebhookRedelivery = z
  .strictObject({}, 'must be an object')
  .meta({ id: 'WebhookRedelivery', description: 'It has no members.' })

/** Input of redeliverWebhookDeliveries. */
export const WebhookRangeRedelivery = z
  .strictObject(
    {
      createdAfter: instant.nullish().meta({
        description: 'Only messages that were made at or after this instant.',
        example: '2026-11-27T10:00:00Z',
      }),
      createdBefore: instant.nullish().meta({
        description: 'Only messages that were made before this instant.',
        example: '2026-11-27T12:00:00Z',
      }),
    },
    'must be an object',
  )
  .meta({
    id: 'WebhookRangeRedelivery',
    description: 'Which of the messages that were given up are sent again.',
  })

/** What redeliverWebhookDeliveries returns. */
export const WebhookRangeRedeliveryShape = z
  .object({
    redelivered: z.int().meta({ description: 'Messages that are sent again, 1,000 at most.', example: 12 }),
    isComplete: z
      .boolean()
      .meta({ description: 'False when others are left: call again later.', example: true }),
  })
  .meta({ id: 'WebhookRangeRedeliveryResult', description: 'Messages that are sent again.' })

const ANSWER = mapShapes(FIELDS, 'answer')
const answer = {
  id: createIdShape('webhook').meta({ description: 'Id of the webhook.' }),
  organizationId: createIdShape('organization').nullable().meta({ example: null }),
  ...ANSWER,
  headerNames: z.array(z.string()).meta({ example: ['Authorization'] }),
  failingSince: instantShape.nullable().meta({ example: null }),
  position: z.string().meta({ example: 'MS43NDIuMQ' }),
  replayUntil: z.string().nullable().meta({ example: null }),
  previousSecretExpiresAt: instantShape.nullable().meta({ example: null }),
  updatedAt: instantShape,
  createdAt: instantShape,
}

/** A webhook in REST responses. */
export const WebhookShape = z.object(answer).meta({ id: 'Webhook', ...META })

const secret = z.string().meta({
  description: 'The secret of the signatures, returned only here.',
  example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=',
})

/** The response to createWebhook and rotateWebhookSecret. */
export const NewWebhookShape = z.object({ ...answer, secret }).meta({ id: 'NewWebhook', ...META })

/** Which webhooks a list is about. */
export const WEBHOOK_FILTER = defineFilter({
  organizationId: { shape: organizationId, description: 'Of this organization.' },
})

const STATUS = defineEnum('WebhookDeliveryStatus', 'What became of a message.', {
  pending: 'It has not been accepted yet.',
  accepted: 'The receiver accepted it.',
  failed: 'It was not accepted within three days.',
})
export type WebhookDeliveryStatus = (typeof STATUS.values)[number]

/** A message in REST responses. */
export const WebhookDeliveryShape = z
  .object({
    id: createIdShape('delivery').meta({ description: 'Id of the delivery.' }),
    webhookId: createIdShape('webhook').meta({ description: 'Id of the webhook.' }),
    messageId: z.string().meta({ example: 'event_01k7r3m8wxe4gbr5v2c9t6hznq' }),
    type: z.string().meta({ example: 'user.created' }),
    status: STATUS.shape.meta({ description: 'pending, accepted or failed.', example: 'accepted' }),
    attempts: z.int().meta({ example: 1 }),
    httpStatus: z.int().nullable().meta({ example: 204 }),
    fault: z.string().nullable().meta({ example: null }),
    latencyMs: z.int().nullable().meta({ example: 41 }),
    response: z.string().nullable().meta({ example: null }),
    body: jsonObjectShape.meta({ description: 'The message.', example: undefined }),
    nextAt: instantShape
      .nullable()
      .meta({ description: 'Time of the next attempt; null for one that is not pending.', example: null }),
    finishedAt: instantShape.nullable(),
    createdAt: instantShape,
  })
  .meta({ id: 'WebhookDelivery', model: 'WebhookDelivery' })
