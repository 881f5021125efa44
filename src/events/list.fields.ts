import * as z from 'zod'
import { readIdPrefix } from '../core/crypto.ts'
import { toAddressKey } from '../schema/address-keys.ts'
import { direction, oneOf, requiredText, text, timeRange } from '../schema/input-shapes.ts'
import { createIdPattern } from '../schema/response-shapes.ts'
import { EVENT_TYPES } from './types.ts'

const ACTOR_PREFIXES = ['user', 'client'] as const
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

export const eventTypes = z
  .array(oneOf(EVENT_TYPES), 'must be a list of types')
  .min(1, 'must have a type')
  .max(100, 'must have at most 100 types')

/** The filter of a list of events. */
export const EventFilter = z.strictObject({
  types: eventTypes.nullish().meta({
    description: 'Only events of these types.',
    example: ['user.locked', 'user.unlocked'],
  }),
  subjectId: requiredText(200).nullish().meta({
    description:
      'Only events with this subject: a user, a session, or the object that the event is about, such as a client, credential or grant.',
    example: 'user_01k7r3m8wxe4gbr5v2c9t6hznq',
  }),
  actorId: text(200)
    .refine(isActorId, 'is not the id of a user or a client')
    .nullish()
    .meta({
      pattern: createIdPattern(...ACTOR_PREFIXES),
      description:
        'Only events that this user or client caused; an event that a user caused is also an event of the client that the user used.',
      example: 'client_01k7r3m8wxe4gbr5v2c9t6hznq',
    }),
  requestId: requiredText(200).nullish().meta({
    description:
      'Only events that this request caused, such as its rejection; error pages and responses show the id. Excludes refreshes of tokens and sessions.',
    example: 'req-5f1c2a9e',
  }),
  deviceId: requiredText(200).nullish().meta({
    description:
      'Only events of requests on behalf of a user of this device: the `deviceId` of a session or event.',
    example: 'Jx1cV5bT9rLh4sGdP6uNaEoKiWxY3q2-7wQkXy0mFjZ',
  }),
  address: addressKey.nullish().meta({
    description:
      'Only failed sign-ins with this e-mail address or phone number, in any spelling, whether or not a user has it.',
    example: 'ada@example.com',
  }),
  occurredAt: timeRange.nullish().meta({ description: 'Only events in this period.' }),
})

/** The order of a list of events. */
export const EventOrder = z.strictObject({
  direction: direction.nullish().meta({
    description: 'Ascending (the default) or descending.',
    example: 'desc',
  }),
})
