import { z } from 'zod'
import { prefixOf } from '../crypto.ts'
import { direction, requiredText, timeRange } from '../fields.ts'

const ACTORS = ['user', 'client'] as const
const isActorId = (id: string): boolean => ACTORS.some((prefix) => prefixOf(id) === prefix)

/** Which entries of the log. Types are checked by the service, which knows them. */
export const EventFilter = z.strictObject({
  types: z
    .array(requiredText(100), 'must be a list of types')
    .max(100, 'must have 100 types at most')
    .nullish()
    .meta({
      description: 'Only entries of these types.',
      example: ['user.locked', 'user.unlocked'],
    }),
  subjectId: requiredText(200).nullish().meta({
    description:
      'Only what is about this user or session, or about the thing of this id that the entry is of: a client, a credential, a grant.',
    example: 'user_01k7r3m8wxe4gbr5v2c9t6hznq',
  }),
  actorId: requiredText(200).refine(isActorId, 'is not the id of a user or a client').nullish().meta({
    description:
      'Only what this person, or this client, did; what a person did is also of the client they used.',
    example: 'client_01k7r3m8wxe4gbr5v2c9t6hznq',
  }),
  requestId: requiredText(200).nullish().meta({
    description:
      'Only what this request led to, such as why it was refused: error pages and answers name it. Refreshes of tokens and sessions are not found by it.',
    example: 'req-5f1c2a9e',
  }),
  occurredAt: timeRange.nullish().meta({ description: 'Only what happened in this time.' }),
})

/** How they are ordered. */
export const EventOrder = z.strictObject({
  direction: direction.nullish().meta({
    description: 'asc is oldest first, which is so when left out; desc is newest first.',
    example: 'desc',
  }),
})
