import { EVENTS, type EventDetail, type EventType } from './types.ts'

/** An event, which `createEventRow` converts to a row. */
export type NewEvent = {
  type: EventType
  userId?: string | null
  sessionId?: string | null
  organizationId?: string | null
  subjectIds?: string[]
  changedFields?: string[]
  detail?: object | null
  addressHash?: Buffer
}

type Subject<Type extends EventType> = (typeof EVENTS)[Type]['subjects'][number]
/** The ids of the subjects, as they are declared; null for an unknown one. */
type Subjects<Type extends EventType> = {
  [Name in Exclude<Subject<Type>, `${string}?`>]: string | null
} & {
  [Name in Subject<Type> as Name extends `${infer Optional}?` ? Optional : never]?: string | string[] | null
}

/** The subjects of an event, and the names of fields that changed. */
export type About<Type extends EventType> = Subjects<Type> & {
  changedFields?: string[]
  /** Of a failed sign-in: `hashAddress`. Events are found by it and do not show it. */
  addressHash?: Type extends 'signin.failed' ? Buffer : never
}

/**
 * Creates an event. With null instead of the subjects, the statement that records the event sets them
 * (event-columns.sql.ts).
 */
export function createEvent<Type extends EventType>(
  type: Type,
  about: About<Type> | null,
  ...[detail]: null extends EventDetail<Type> ? [EventDetail<Type>?] : [EventDetail<Type>]
): NewEvent {
  const { userId, sessionId, organizationId, changedFields, addressHash, ...others } = (about ??
    {}) as Record<string, unknown>
  const names = EVENTS[type].subjects.map((name) => name.replace('?', ''))
  return {
    type,
    userId: userId as string | null | undefined,
    sessionId: sessionId as string | null | undefined,
    organizationId: organizationId as string | null | undefined,
    subjectIds: names.flatMap((name) => (others[name] as string | string[] | null | undefined) ?? []),
    changedFields: changedFields as string[] | undefined,
    addressHash: addressHash as Buffer | undefined,
    detail: detail ?? null,
  }
}
