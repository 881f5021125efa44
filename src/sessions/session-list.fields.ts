import * as z from 'zod'
import { isClientIdSyntax } from '../access/client-ids.ts'
import { readIdPrefix } from '../core/crypto.ts'
import { direction, text, timeRange } from '../schema/input-shapes.ts'
import { createIdPattern } from '../schema/response-shapes.ts'
import { ipAddress } from './sessions.fields.ts'

const userId = text(200)
  .refine((id) => readIdPrefix(id) === 'user', 'is not an id that starts with user_')
  .meta({ pattern: createIdPattern('user') })
const clientId = text(200)
  .refine(isClientIdSyntax, 'is not an id that starts with client_, or a URL')
  .meta({ pattern: `${createIdPattern('client')}|^https?://[\\x21-\\x7e]+$` })

/** The filter of a list of sessions; all members must match. Null counts as omitted. */
export const SessionFilter = z.strictObject(
  {
    userId: userId.nullish().meta({ description: 'Sessions of this user.' }),
    clientId: clientId.nullish().meta({ description: 'Started through this client.' }),
    ip: ipAddress
      .nullish()
      .meta({ description: 'Last used from this IP address, in any notation.', example: '203.0.113.7' }),
    createdAt: timeRange.nullish().meta({ description: 'Started in this time.' }),
    lastSeenAt: timeRange.nullish().meta({ description: 'Last used in this time.' }),
  },
  'must be an object',
)

/** Fields by which sessions can be ordered, besides the id, whose order is that of their start. */
export const SESSION_ORDER_FIELDS = ['createdAt', 'lastSeenAt'] as const
export type SessionOrderField = (typeof SESSION_ORDER_FIELDS)[number]

export const SessionOrder = z.strictObject({
  orderBy: z
    .enum(SESSION_ORDER_FIELDS, `must be one of ${SESSION_ORDER_FIELDS.join(', ')}`)
    .nullish()
    .meta({
      description: 'The field of the order. Default: for a range of the filter its field, otherwise the id.',
    }),
  direction: direction
    .nullish()
    .meta({ description: 'Ascending (the default) or descending.', example: 'desc' }),
})

type ParsedSessionFilter = z.output<typeof SessionFilter>
/** A valid filter with the given members only. */
export type SessionFilter = {
  [Member in keyof ParsedSessionFilter]?: NonNullable<ParsedSessionFilter[Member]>
}
export type SessionFilterMember = keyof SessionFilter
export const SESSION_FILTER_MEMBERS = Object.keys(SessionFilter.shape) as SessionFilterMember[]

const isConstraining = (value: ParsedSessionFilter[SessionFilterMember]): boolean =>
  typeof value === 'object' && value !== null
    ? Boolean(value.gte ?? value.lt)
    : value !== null && value !== undefined

/** Removes members that are null, and ranges without bounds. */
export const toSessionFilter = (parsed: ParsedSessionFilter): SessionFilter =>
  Object.fromEntries(
    SESSION_FILTER_MEMBERS.filter((member) => isConstraining(parsed[member])).map((member) => [
      member,
      parsed[member],
    ]),
  )
