import { describe, expect, test } from 'vitest'
import { createPlatformCtx } from '../../src/core/context.ts'
import * as credential from '../../src/events/credential-events.ts'
import * as grant from '../../src/events/grant-events.ts'
import * as invitation from '../../src/events/invitation-events.ts'
import { createEventRow } from '../../src/events/log.ts'
import * as management from '../../src/events/management-events.ts'
import * as session from '../../src/events/session-events.ts'
import { EVENT_TYPES, EVENTS } from '../../src/events/types.ts'
import * as user from '../../src/events/user-events.ts'
import { CONSTRUCTOR_CALLS, GRANT, NEW_EVENTS, SESSION } from '../support/event-constructors.ts'

describe('event constructors', () => {
  test('are all called by this test', () => {
    const constructors = [user, session, grant, credential, invitation, management].flatMap(Object.keys)
    expect(Object.keys(CONSTRUCTOR_CALLS).sort()).toEqual(constructors.sort())
  })

  test('create every type of event', () => {
    expect([...new Set(NEW_EVENTS.map(({ type }) => type))].sort()).toEqual([...EVENT_TYPES].sort())
  })

  test.each(NEW_EVENTS.map((event) => [event.type, event] as const))(
    '%s has a detail that its schema parses as it is stored',
    (type, event) => {
      const row = JSON.parse(JSON.stringify(createEventRow(createPlatformCtx('acme'), event))) as {
        detail: unknown
      }
      expect(EVENTS[type].parse(row.detail)).toEqual(row.detail)
    },
  )

  test('set user, session and subjects of session.ended and grant.revoked', () => {
    expect(session.sessionEnded(SESSION, 'logout')).toMatchObject({
      userId: 'user_1',
      sessionId: 'session_1',
      subjectIds: ['client_1'],
    })
    expect(grant.grantRevoked(GRANT, 'logout')).toMatchObject({
      userId: 'user_1',
      sessionId: 'session_1',
      subjectIds: ['grant_1', 'client_1'],
    })
  })
})
