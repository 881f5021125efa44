import * as z from 'zod'
import { readIdPrefix } from '../core/crypto.ts'
import { toAddressKey } from '../schema/address-keys.ts'
import { defineEnum } from '../schema/enums.ts'
import { requiredText, text, timeRange } from '../schema/input-shapes.ts'
import { ipNetwork } from '../schema/ip-network.ts'
import { defineFilter, type Given } from '../schema/lists.ts'
import {
  asId,
  clientIdShape,
  createIdPattern,
  createIdShape,
  instantShape,
  jsonObjectShape,
} from '../schema/response-shapes.ts'
import { mapEventTypes } from './types.ts'

const ACTOR_PREFIXES = ['user', 'client', 'apikey'] as const
const isActorId = (id: string): boolean => ACTOR_PREFIXES.some((prefix) => readIdPrefix(id) === prefix)

/** Parses an address to its key. */
const addressKey = text(254)
  .transform((address, context) => {
    const key = toAddressKey(address)
    if (key !== null) return key
    context.addIssue('must be an e-mail address or a phone number with its country code')
    return z.NEVER
  })
  .meta({ anyOf: [{ format: 'idn-email' }, { format: 'phone' }] })

export const EVENT_TYPE = defineEnum(
  'EventType',
  'A type of event: in REST `session.started`, in GraphQL SESSION_STARTED.',
  mapEventTypes(({ description }) => description),
)

const eventTypes = z
  .array(EVENT_TYPE.shape, 'must be a list of types')
  .min(1, 'must have a type')
  .max(100, 'must have at most 100 types')

const actorId = text(200)
  .refine(isActorId, 'is not the id of a user, a client or an API key')
  .meta({ pattern: createIdPattern(...ACTOR_PREFIXES) })

const ACTOR_COLUMNS: Record<string, string> = { user: '"actorUserId"', apikey: '"actorApiKeyId"' }
const SUBJECT_COLUMNS: Record<string, string> = {
  user: '"userId"',
  session: '"sessionId"',
  organization: '"organizationId"',
}

/** Which events a list is about. An index begins with each of the columns. */
export const EVENT_FILTER = defineFilter({
  types: {
    shape: eventTypes,
    column: null,
    description: 'Only events of these types.',
    example: ['user.locked', 'user.unlocked'],
  },
  subjectId: {
    shape: asId(requiredText(200)),
    column: (id: string) => SUBJECT_COLUMNS[readIdPrefix(id) ?? ''] ?? '"subjectIds"[1]',
    description:
      'Only events with this subject: a user, a session, an organization, or the object that the event is about, such as a client, credential or grant.',
    example: 'user_01k7r3m8wxe4gbr5v2c9t6hznq',
  },
  organizationId: {
    shape: asId(requiredText(200)),
    description: 'Only events about this organization.',
    example: 'organization_01k7r3m8wxe4gbr5v2c9t6hznq',
  },
  actorId: {
    shape: asId(actorId),
    column: (id: string) => ACTOR_COLUMNS[readIdPrefix(id) ?? ''] ?? '"actorClientId"',
    description:
      'Only events that this user, client or API key caused; an event that a user caused is also an event of the client or key that the user used.',
    example: 'client_01k7r3m8wxe4gbr5v2c9t6hznq',
  },
  requestId: {
    shape: requiredText(200),
    description:
      'Only events that this request caused, such as its rejection; error pages and responses show the id. Excludes refreshes of tokens and sessions.',
    example: 'req-5f1c2a9e',
  },
  deviceId: {
    shape: requiredText(200),
    description:
      'Only events of requests on behalf of a user of this device: the `deviceId` of a session or event.',
    example: 'Jx1cV5bT9rLh4sGdP6uNaEoKiWxY3q2-7wQkXy0mFjZ',
  },
  ip: {
    shape: ipNetwork,
    column: null,
    description:
      'Only events of requests from this IP address, in any notation, or from a network in CIDR notation. Addresses are kept for 30 days.',
    example: '203.0.113.0/24',
  },
  address: {
    shape: addressKey,
    column: null,
    description:
      'Only failed sign-ins with this e-mail address or phone number, in any spelling, whether or not a user has it.',
    example: 'ada@example.com',
  },
  occurredAt: { shape: timeRange, description: 'Only events in this period.' },
})
export type EventFilter = Given<typeof EVENT_FILTER.members>

/** An event as REST returns it. */
export const EventShape = z
  .object({
    id: createIdShape('event'),
    position: z.string().meta({
      description: 'Position in the event log: a value for `after` and `before`, and for subscriptions.',
      example: 'MS43NDIuMQ',
    }),
    type: z.string().meta({ description: 'What happened.', example: 'user.updated' }),
    occurredAt: instantShape.meta({ description: 'When it happened.' }),
    actor: z
      .object({
        userId: createIdShape('user').nullable().meta({ description: 'The user that caused it.' }),
        clientId: clientIdShape
          .nullable()
          .meta({ description: 'The client that caused it, or that the user used.' }),
        apiKeyId: createIdShape('apikey')
          .nullable()
          .meta({ description: 'The API key that caused it, or that the user used.', example: null }),
        tenantId: z.string().nullable().meta({
          description: 'Tenant of the actor if it is an operator of another tenant; null otherwise.',
          example: null,
        }),
        ip: z.string().nullable().meta({ description: 'IP address of the request.', example: '203.0.113.7' }),
      })
      .nullable()
      .meta({
        description: 'The user or client that caused it, with its IP address; null for the platform itself.',
      }),
    requestId: z
      .string()
      .nullable()
      .meta({ description: 'Id of the request that caused it.', example: 'req-5f1c2a9e' }),
    deviceId: z.string().nullable().meta({
      description: 'The device that the caller named by a device token; null without one.',
      example: null,
    }),
    userId: createIdShape('user').nullable().meta({ description: 'The user that it is about.' }),
    sessionId: createIdShape('session')
      .nullable()
      .meta({ description: 'The session that it is about.', example: null }),
    organizationId: createIdShape('organization')
      .nullable()
      .meta({ description: 'The organization that it is about.', example: null }),
    subjectIds: z.array(z.string()).meta({
      description: 'Ids of its subjects: the user, the session, the organization, then other objects.',
      example: ['user_01k7r3m8wxe4gbr5v2c9t6hznq'],
    }),
    changedFields: z
      .array(z.string())
      .meta({ description: 'Names of the changed fields, without values.', example: ['email'] }),
    detail: jsonObjectShape
      .nullable()
      .meta({ description: 'Further facts, depending on the type.', example: null }),
  })
  .meta({ id: 'Event', description: "An event of the tenant's event log." })
