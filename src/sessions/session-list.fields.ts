import { z } from 'zod'
import { isNameOfClient } from '../clients/client-ids.ts'
import { prefixOf } from '../crypto.ts'
import { direction, requiredText, timeRange } from '../fields.ts'
import { ipAddress } from './sessions.fields.ts'

const userId = requiredText(200).refine(
  (id) => prefixOf(id) === 'user',
  'is not an id that starts with user_',
)
const clientId = requiredText(200).refine(isNameOfClient, 'is not an id that starts with client_, or a URL')

/** Which sessions a list is about: those that are all of this. Null counts as omitted. */
export const SessionFilter = z.strictObject(
  {
    userId: userId.nullish().meta({ description: 'Of this user.' }),
    clientId: clientId.nullish().meta({ description: 'Started through this client.' }),
    ip: ipAddress
      .nullish()
      .meta({ description: 'Last used from this address, however it is spelled.', example: '203.0.113.7' }),
    createdAt: timeRange.nullish().meta({ description: 'Started in this time.' }),
    lastSeenAt: timeRange.nullish().meta({ description: 'Last used in this time.' }),
  },
  'must be an object',
)

/** What sessions can be ordered by, besides the order of their ids, which is that of their start. */
export const SESSION_ORDER_FIELDS = ['createdAt', 'lastSeenAt'] as const
export type SessionOrderField = (typeof SESSION_ORDER_FIELDS)[number]

export const SessionOrder = z.strictObject({
  orderBy: z
    .enum(SESSION_ORDER_FIELDS, `must be one of ${SESSION_ORDER_FIELDS.join(', ')}`)
    .nullish()
    .meta({
      description: 'What the sessions are ordered by. When omitted, by what a range is over; else by id.',
    }),
  direction: direction
    .nullish()
    .meta({ description: 'Oldest first, which is so when left out, or newest first.', example: 'desc' }),
})

type Parsed = z.output<typeof SessionFilter>
/** A checked filter: only the members that ask for something. */
export type SessionFilter = { [Member in keyof Parsed]?: NonNullable<Parsed[Member]> }
export type FilterMember = keyof SessionFilter
export const FILTER_MEMBERS = Object.keys(SessionFilter.shape) as FilterMember[]

const asks = (value: Parsed[FilterMember]): boolean =>
  typeof value === 'object' && value !== null
    ? Boolean(value.gte ?? value.lt)
    : value !== null && value !== undefined

/** Leaves out what was given as null, or as a range without an end. */
export const toFilter = (parsed: Parsed): SessionFilter =>
  Object.fromEntries(
    FILTER_MEMBERS.filter((member) => asks(parsed[member])).map((member) => [member, parsed[member]]),
  )
