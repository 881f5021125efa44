import { describe, expect } from 'vitest'
import type { LogEvent } from '../../src/events/log.ts'
import { EVENT_TYPES } from '../../src/events/types.ts'
import { ADMIN_REQUEST_ID, DAY_MS, idsOf, LIST, past, test, type World } from '../support/event-log.ts'
import { toFieldNames } from '../support/issues.ts'

describe('a filter of events', () => {
  const isOf = (event: LogEvent, id: string) =>
    [event.userId, event.sessionId, event.subjectIds[0]].includes(id)
  const isWithin = (event: LogEvent, gte: Date | null, lt: Date | null) =>
    (!gte || event.occurredAt >= gte) && (!lt || event.occurredAt < lt)

  type Case = [
    name: string,
    filter: (world: World) => Record<string, unknown>,
    matches: (event: LogEvent, world: World) => boolean,
    least: number,
  ]
  const CASES: Case[] = [
    ['no field', () => ({}), () => true, 12],
    ['a type', () => ({ types: ['user.created'] }), ({ type }) => type === 'user.created', 2],
    [
      'types',
      () => ({ types: ['user.locked', 'key.rotated', 'user.locked'] }),
      ({ type }) => ['user.locked', 'key.rotated'].includes(type),
      5,
    ],
    ['a user', ({ userId }) => ({ subjectId: userId }), (event, { userId }) => isOf(event, userId), 5],
    [
      'a session',
      ({ sessionId }) => ({ subjectId: sessionId }),
      (event, { sessionId }) => isOf(event, sessionId),
      2,
    ],
    [
      'a client',
      ({ clientId }) => ({ subjectId: clientId }),
      (event, { clientId }) => isOf(event, clientId),
      2,
    ],
    ['a key', () => ({ subjectId: 'key-2' }), (event) => isOf(event, 'key-2'), 1],
    ['an unknown subject', () => ({ subjectId: 'nothing' }), () => false, 0],
    [
      'the acting user',
      ({ adminId }) => ({ actorId: adminId }),
      ({ actorUserId }, { adminId }) => actorUserId === adminId,
      4,
    ],
    [
      'the acting client',
      ({ machineId }) => ({ actorId: machineId }),
      ({ actorClientId }, { machineId }) => actorClientId === machineId,
      7,
    ],
    [
      'the client of the acting user',
      ({ clientId }) => ({ actorId: clientId }),
      ({ actorClientId }, { clientId }) => actorClientId === clientId,
      4,
    ],
    [
      'a request',
      () => ({ requestId: ADMIN_REQUEST_ID }),
      ({ requestId, type }) => requestId === ADMIN_REQUEST_ID && !type.endsWith('.refreshed'),
      3,
    ],
    ['an IP address', () => ({ ip: '203.0.113.9' }), ({ ip }) => ip === '203.0.113.9', 4],
    [
      'an IP address in another notation',
      () => ({ ip: '::FFFF:cb00:7109' }),
      ({ ip }) => ip === '203.0.113.9',
      4,
    ],
    ['a network', () => ({ ip: '203.0.113.0/24' }), ({ ip }) => ip?.startsWith('203.0.113.') ?? false, 4],
    ['a network of IPv6', () => ({ ip: '2001:db8::/32' }), () => false, 0],
    ['every address of IPv4', () => ({ ip: '0.0.0.0/0' }), ({ ip }) => ip !== null, 5],
    [
      'an IP address and types',
      () => ({ ip: '203.0.113.9', types: ['user.locked'] }),
      ({ ip, type }) => ip === '203.0.113.9' && type === 'user.locked',
      1,
    ],
    [
      'a network and types',
      () => ({ ip: '203.0.113.0/24', types: ['user.locked', 'user.updated'] }),
      ({ ip, type }) => ip === '203.0.113.9' && ['user.locked', 'user.updated'].includes(type),
      2,
    ],
    [
      'a subject and types',
      ({ userId }) => ({ subjectId: userId, types: ['user.locked', 'session.started'] }),
      (event, { userId }) => isOf(event, userId) && ['user.locked', 'session.started'].includes(event.type),
      2,
    ],
    [
      'an actor, a subject and a type',
      ({ userId, adminId }) => ({ subjectId: userId, actorId: adminId, types: ['user.updated'] }),
      ({ type }) => type === 'user.updated',
      1,
    ],
    ...[
      [past(3), past(2)],
      [past(2), null],
      [null, past(1)],
      [past(1), past(1, 30)],
      [past(1, 1), past(1, 31)],
      [past(1, 30), past(1, 89)],
      [past(1, 89), past(0)],
      [past(4), past(3)],
      [past(20), null],
      [past(20), past(1, 30)],
      [null, past(20)],
      [past(0), past(0)],
      [past(0), past(4)],
      [new Date(Date.now() + DAY_MS), null],
      [null, new Date(Date.now() + DAY_MS)],
    ].flatMap(([gte = null, lt = null]): Case[] => {
      const occurredAt = { ...(gte && { gte: gte.toISOString() }), ...(lt && { lt: lt.toISOString() }) }
      const name = `from ${gte?.toISOString()} to ${lt?.toISOString()}`
      return [
        [name, () => ({ occurredAt }), (event) => isWithin(event, gte, lt), 0],
        [
          `${name} of a type`,
          () => ({ occurredAt, types: ['key.rotated'] }),
          (event) => event.type === 'key.rotated' && isWithin(event, gte, lt),
          0,
        ],
      ]
    }),
  ]

  const parametersOf = (filter: Record<string, unknown>) =>
    Object.entries(filter)
      .flatMap(([name, value]): [string, string][] =>
        typeof value === 'object' && value !== null && !Array.isArray(value)
          ? Object.entries(value).map(([member, bound]) => [`${name}.${member}`, String(bound)])
          : [[name, String(value)]],
      )
      .map(([name, value]) => `&${name}=${encodeURIComponent(value)}`)
      .join('')

  test.for(CASES)(
    'by %s selects the same events on both surfaces and in both directions',
    async ([_name, toFilter, matches, least], { world, log, restEvents, graphqlEvents, walkEvents }) => {
      const filter = toFilter(world)
      const expected = idsOf(log.filter((event) => matches(event, world)))
      expect(expected.length).toBeGreaterThanOrEqual(least)
      const parameters = parametersOf(filter)
      expect(idsOf(await restEvents(parameters))).toEqual(expected)
      expect(idsOf((await graphqlEvents({ first: 1000, filter })).nodes)).toEqual(expected)
      expect(idsOf((await graphqlEvents({ last: 1000, filter })).nodes)).toEqual(expected)
      expect(idsOf(await restEvents(`${parameters}&direction=desc`))).toEqual([...expected].reverse())
      expect(idsOf((await graphqlEvents({ filter, direction: 'DESC' })).nodes)).toEqual(
        [...expected].reverse(),
      )
      expect(idsOf((await graphqlEvents({ filter, last: 2 })).nodes)).toEqual(expected.slice(-2))
      const small = await walkEvents(`pageSize=2${parameters}`)
      expect(idsOf(small.flat())).toEqual(expected)
    },
  )

  test('by an empty list of types is rejected', async ({ gql }) => {
    const { body } = await gql('{ events(filter: { types: [] }) { pageInfo { endCursor } } }')
    expect(body.errors?.[0]?.extensions.fields).toEqual([{ field: 'types', description: 'must have a type' }])
  })

  test.for<[object, string, string[]]>([
    [{ actorId: 'nobody' }, '&actorId=nobody', ['actorId']],
    [
      { actorId: 'session_01m7xeb1sbendby702xerkqv3p' },
      '&actorId=session_01m7xeb1sbendby702xerkqv3p',
      ['actorId'],
    ],
    [{ subjectId: '', actorId: 'user_1' }, '&subjectId=&actorId=user_1', ['actorId', 'subjectId']],
    ...['', 'unknown', '203.0.113.0/33', '203.0.113', 'fe80::1%eth0', '2001:db8::/64/64'].map(
      (ip): [object, string, string[]] => [{ ip }, `&ip=${encodeURIComponent(ip)}`, ['ip']],
    ),
    [{ subjectId: 'x'.repeat(201) }, `&subjectId=${'x'.repeat(201)}`, ['subjectId']],
  ])('%j is rejected with the names of the fields', async ([filter, parameters, fields], { rest, gql }) => {
    const answer = await rest('GET', `/events?pageSize=5${parameters}`)
    expect([answer.status, answer.body.code]).toEqual([400, 'BAD_USER_INPUT'])
    const { body } = await gql(LIST, { filter })
    expect(toFieldNames(answer.body.fields).sort()).toEqual(fields)
    expect(toFieldNames(body.errors?.[0]?.extensions.fields).sort()).toEqual(fields)
  })

  test.for<[string, string[]]>([
    ['occurredAt=2026-01-01', ['occurredAt']],
    ['occurredAt.gte=2026-01-01', ['occurredAt.gte']],
    ['occurredAt.lt=', ['occurredAt.lt']],
    ['occurredAt.gt=2026-01-01T00:00:00Z', ['occurredAt.gt']],
    ['direction=up', ['direction']],
    ['type=user.created&userId=x&ip=1', ['type', 'userId', 'ip']],
    ['page=0&totalSize=1', ['totalSize']],
    ['page=1&after=x', ['page']],
    ['pageSize=5&types=user.created,nonsense,x', ['types.1', 'types.2']],
    ['types=', ['types.0']],
    ['pageSize=0&types=user.born&actorId=x&direction=up', ['pageSize', 'types.0', 'actorId', 'direction']],
    ['types=user.born&direction=up', ['types.0', 'direction']],
  ])('%s is rejected over REST with the names of the parameters', async ([query, fields], { rest }) => {
    const { status, body } = await rest('GET', `/events?${query}`)
    expect([status, toFieldNames(body.fields)]).toEqual([400, fields])
  })

  test('is rejected over GraphQL with the names of all invalid fields', async ({ gql }) => {
    const query = `{ events(first: 5000, filter: { types: [], actorId: "x" }) { pageInfo { endCursor } } }`
    const { body } = await gql(query)
    expect(toFieldNames(body.errors?.[0]?.extensions.fields)).toEqual(['types', 'actorId', 'first'])
  })

  test('by an unknown type is rejected, over REST with the list of known types', async ({ rest, gql }) => {
    const answer = await gql('{ events(filter: { types: [USER_CREATED, USER_BORN] }) { nodes { id } } }')
    expect(answer.body.errors?.[0]?.message).toMatch(/Value "USER_BORN" does not exist in "EventType" enum/)
    const { body } = await rest('GET', '/events?types=user.created,user.born')
    const description = `must be one of: ${EVENT_TYPES.join(', ')}`
    expect(body.fields).toEqual([{ field: 'types.1', description }])
  })
})
